#!/usr/bin/env python3
"""steps.py FSC CHROMIUM CHROMEDRIVER: what a page of `fsc viz` says of a step beside its numbers.

What steps cost is what `fsc profile` counts of their lines; a link leads to its step; a picture holds the tile.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import LAPTOP, PHONE, ROOT, Browser, Keys  # noqa: E402

KERNEL = os.path.join(ROOT, "dsl_examples", "softmax.dsl")
SAME = ["y=y.npy", "--num-warps=2"]


def fsc(tool, folder, *words):
    return subprocess.run([tool, *words, *SAME], cwd=folder, text=True, stdout=subprocess.PIPE, timeout=120,
                          check=True).stdout


def costs(b, lines):
    """One program of 201 columns, whose rows are no whole vectors: each line as the profile counts it."""
    got = b.js("now.program.steps.map((s, i) => [now.program.op(i).line, now.program.op(i).kind, "
               "costOf(now.program, s)]).filter((x) => x[2].requests)")
    assert {kind for _, kind, _ in got} == {"load", "store"}, got
    for line, kind, cost in got:
        want = next(l for l in lines if l["line"] == line)[kind]
        assert (cost["requests"], cost["sectors"], cost["asked"]) == \
            (want["requests"], want["sectors"], want["bytes"]), (line, cost, want)
    b.seek("Load")
    cost = next(c for _, kind, c in got if kind == "load")
    assert f"{cost['requests']} requests of a warp move {cost['sectors']} sectors of 32 bytes" in b.text("#cost")
    b.seek("⊕", first=False)
    assert "one behind the other" in b.text("#cost"), b.text("#cost")


def links(b, path):
    """A copied address, opened anew, shows the same step of the same program; so does one that is pasted there."""
    b.press("]", "]")
    b.seek("⊕")
    b.press(Keys.ARROW_RIGHT)
    was = b.at(), b.text("#sentence"), b.cells(), b.js("now.number")
    b.click("#link")
    address = b.js("location.href")
    assert was[3] == 2 and re.search(r"#run=0&program=2&step=\d+&part=[1-9]", address), address
    b.show("about:blank", LAPTOP, "light")
    b.show(address, LAPTOP, "light")
    assert (b.at(), b.text("#sentence"), b.cells(), b.js("now.number")) == was
    b.press(Keys.HOME)
    assert b.at()[0] == 1
    b.js("void (location.hash = '#run=0')")
    b.js("void (location.hash = arguments[0])", address[address.index("#"):])
    b.js("new Promise((done) => setTimeout(done, 100))")
    assert (b.at(), b.js("now.number")) == (was[0], 2), b.at()
    for wrong in ("#run=7", "#run=x", "#step=3", "#run=0&program=99&step=1e9"):
        b.show("about:blank", LAPTOP, "light")
        b.show("file://" + path + wrong, LAPTOP, "light")
        assert b.at()[1] > 1 and not b.errors(), wrong


def tours(b, path):
    """Each stop is a kind that no stop before had, each says why, and the tour begins again behind the last."""
    b.open(path)
    seen, kinds, stops = [], [], 0
    for _ in range(40):
        b.press("t")
        stops = int(re.fullmatch(r"Tour \d+/(\d+)", b.text("#tour")).group(1))
        seen.append(b.at()[0])
        kinds.append(b.js("now.program.op(now.frames[now.index].step).kind"))
        assert b.text("#why"), kinds
        if len(seen) > 1 and seen[-1] <= seen[-2]:
            break
    assert len(seen) == stops and seen[-1] == 1, (seen, stops)  # the page opens at the first
    assert {"load", "store", "barrier", "exp", "shared_store", "icmp"} <= set(kinds), kinds
    b.click("#tour")
    assert b.at()[0] == seen[0]


def pictures(b, path):
    b.open(path)
    b.seek("Load")
    picture = b.js("pictureOf()")
    said = re.findall(r"<text[^>]*text-anchor[^>]*>([^<]*)</text>", picture)
    assert said == b.cells() and b.text("#sentence") in picture
    assert b.js("new DOMParser().parseFromString(arguments[0], 'image/svg+xml').querySelector('parsererror') === null",
                picture)
    fills = set(re.findall(r'<rect x[^>]*fill="([^"]*)"', picture))
    assert len(fills) > 10, fills  # by size and sign


def fits(b, path):
    b.open(path, PHONE, "dark")
    assert b.js("document.documentElement.scrollWidth") <= PHONE[0]
    for button in ("#tour", "#link", "#picture"):
        right = b.js("document.querySelector(arguments[0]).getBoundingClientRect().right", button)
        assert right <= PHONE[0], (button, right)
    b.shot("steps-phone")


def main():
    tool, chromium, driver = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    b = Browser(chromium, driver, sys.argv[4] if len(sys.argv) > 4 else None)
    with tempfile.TemporaryDirectory() as folder:
        one, three = os.path.join(folder, "one.html"), os.path.join(folder, "three.html")
        fsc(tool, folder, "viz", KERNEL, "x=random:0:fp32[1,201]", "-o", one)
        fsc(tool, folder, "viz", KERNEL, "x=random:0:fp32[3,201]", "-o", three)
        lines = json.loads(fsc(tool, folder, "profile", KERNEL, "x=random:0:fp32[1,201]", "--gpu=h200",
                               "--registers=32", "--json"))["lines"]
        b.open(one)
        costs(b, lines)
        b.open(three)
        links(b, three)
        tours(b, three)
        pictures(b, three)
        fits(b, three)
        assert b.errors() == [], b.errors()
    b.driver.quit()
    print("stepped")


if __name__ == "__main__":
    main()
