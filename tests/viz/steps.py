#!/usr/bin/env python3
"""steps.py FSC CHROMIUM CHROMEDRIVER: what a page of `fsc viz` says of a step beside its numbers.

What steps cost is what `fsc profile` counts of their lines; an element leads to its lane, its op and its instructions;
memory fills as steps store; a link leads to its step; a picture holds the tile.
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
SLOW = os.path.join(ROOT, "tests", "tool", "Inputs", "slow.dsl")
PRODUCT = os.path.join(ROOT, "dsl_examples", "matmul.dsl")
SHARED = {"gathered": ([SLOW, "x=random:0:fp32[1024]", "--kernel=gathered"], ["y=y.npy"]),
          "product": ([PRODUCT, "a=random:0:fp16[16,64]", "b=random:1:fp16[64,32]", "c=c.npy", "-D", "bias=None"],
                      ["-D", "residual=None"])}
WIDE = (1440, 900)


def fsc(tool, folder, *words, same=SAME):
    return subprocess.run([tool, *words, *same], cwd=folder, text=True, stdout=subprocess.PIPE, timeout=120,
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
    shuffles = b.js("instructionsOf(now.run.code, now.program.op(now.frames[now.index].step)).length")
    assert f"{2 * shuffles} issue slots: {shuffles} instructions × 2 warps" in b.text("#cost"), b.text("#cost")
    assert "one behind the other" in b.text("#cost"), b.text("#cost")


def conflicts(b, tool, folder, name):
    """Wavefronts and conflicts of banks are those that the profile counts, and shown where they are."""
    words, same = SHARED[name]
    page = os.path.join(folder, name + ".html")
    fsc(tool, folder, "viz", *words, "-o", page, same=same)
    profile = fsc(tool, folder, "profile", *words, "--gpu=h200", "--registers=32", "--json", same=same)
    want = {(l["line"], kind): (l[kind]["requests"], l[kind]["wavefronts"], l[kind]["bank_conflicts"])
            for l in json.loads(profile)["lines"] for kind in ("shared_load", "shared_store") if kind in l}
    b.open(page)
    found = b.js("(() => { const all = {}; now.program.steps.forEach((s, i) => ['load', 'store'].forEach((k) => {"
                 "const c = sharedCostOf(now.program, {e: s.e.filter((e) => e.k === 'shared ' + k)});"
                 "const key = now.program.op(i).line + ' ' + k; all[key] = all[key] || [0, 0, 0];"
                 "[c.requests, c.wavefronts, c.conflicts].forEach((x, n) => { all[key][n] += x; }); })); "
                 "return all; })()")
    got = {(int(key.split()[0]), "shared_" + key.split()[1]): tuple(c) for key, c in found.items() if c[0]}
    assert want and got == want, (got, want)
    if name != "gathered":
        return
    assert sum(c for _, _, c in want.values())
    b.seek("shared load")
    for _ in range(b.at()[1]):
        if b.all("#cost .dear"):
            break
        b.press(Keys.ARROW_RIGHT)
    assert "bank conflict" in b.text("#cost .dear") and b.all("#shared i.conflict"), b.text("#cost")
    b.shot("steps-conflicts")


def elements(b, path):
    """An element under the pointer: its lane and register, the op that made it, the instructions of its register."""
    b.open(path, WIDE)
    b.seek("Subtract")
    cell = b.get("#tile .cell[data-i='6']")  # register 2 of lane 1, in vectors of 4
    b.move(cell)
    assert "warp 0, lane 1 (thread 1), register 2" in b.text("#owner"), b.text("#owner")
    assert b.js("[...document.querySelectorAll('.lane.mine')].map((l) => l.dataset.thread)") == ["1"]
    assert b.js("[...document.querySelectorAll('.lane.mine div')].map((d) => d.className)") == ["", "", "mine", ""]
    mine = b.js("['ir', 'ptx'].map((p) => [...document.querySelectorAll('#' + p + ' li.mine span')].map((s) => "
                "s.textContent.trim()))")
    assert len(mine[0]) == 1 and " = fsub " in mine[0][0], mine
    assert len(mine[1]) == 1 and mine[1][0].startswith("sub."), mine
    all_ = b.js("instructionsOf(now.run.code, now.program.op(now.frames[now.index].step)).map((l) => l.text.trim())")
    assert len(all_) == 4 and all_.index(mine[1][0]) == 2, (all_, mine)
    b.seek("Store ")
    b.move(b.get("#tile .cell[data-i='6']"))
    ptx = b.js("[...document.querySelectorAll('#ptx li.mine span')].map((s) => s.textContent.trim())")
    assert len([p for p in ptx if "st.global" in p]) >= 1 and "st.global" in b.text("#owner code"), ptx
    b.seek("lane ⊕ 8")
    ptx = b.js("[...document.querySelectorAll('#ptx li.mine span')].map((s) => s.textContent.trim())")
    assert len(ptx) == 2 and ", 8, 31" in ptx[0] and ptx[1].startswith("max."), ptx
    b.seek("Subtract")
    b.move(next(l for l in b.all("#ptx li") if all_[3] in l.text))
    moved = b.js("[...document.querySelectorAll('#tile .cell.moved')].map((c) => Number(c.dataset.i))")
    assert moved == list(range(3, 256, 4)), moved
    b.press(Keys.HOME)
    b.seek("Load")
    b.js("document.querySelector('#tile .cell').focus()")
    b.press(Keys.ARROW_RIGHT)  # keyboard only
    assert "register 1" in b.text("#owner") and b.all("#ptx li.mine")


def memory(b, path):
    """Shared words and buffers of results are empty until a step stores there."""
    b.open(path)
    cells = ("[...document.querySelectorAll('#shared .cell')].map((c) => [c.className.includes('empty'), "
             "c.lastChild.textContent])")
    b.seek("Load")
    empty = b.js(cells)
    assert len(empty) == 4 and all(e for e, _ in empty), empty
    assert "nothing stored yet" in b.text(".buffer[data-name='y']")
    b.seek("shared_store")
    now = b.js(cells)
    assert [e for e, _ in now] == [False, False, True, True], now
    assert now[0][1] == b.cells()[0] and len(b.all("#shared .cell.stored")) == 2, now
    b.js("document.querySelector('#shared .cell').focus()")
    assert "bank 0" in b.text("#shared .say") and "stored by warp 0, lane " in b.text("#shared .say"), \
        b.text("#shared .say")
    pixels = ("(() => { const c = document.querySelector(\".buffer[data-name='y'] canvas\"); return "
              "[...c.getContext('2d').getImageData(0, 0, 201, 1).data].filter((_, i) => i % 4 === 3 && _).length; })()")
    assert b.js(pixels) == 0
    b.press(Keys.END)
    assert b.js(pixels) > 150 and "201 now" in b.text(".buffer[data-name='y']"), b.text(".buffer[data-name='y']")


def in_view(b, path):
    """The stage, its tile, the element's owner and the buttons, without scrolling."""
    for size in (WIDE, (1280, 800), PHONE):
        b.open(path, size)
        for words in ("Load", "lane ⊕ 8", "shared_store"):
            b.seek(words)
            boxes = b.js("['#stage', '#tile', '#owner', 'footer', '#play'].map((css) => { const r = "
                         "document.querySelector(css).getBoundingClientRect(); return [r.top, r.bottom, r.height]; })")
            assert all(top >= 0 and bottom <= size[1] and height > 20 for top, bottom, height in boxes), (size, boxes)
            lanes = b.js("[...document.querySelectorAll('.lane')].map((l) => l.getBoundingClientRect().bottom)")
            assert max(lanes) <= boxes[0][1] or words != "lane ⊕ 8", (size, lanes, boxes)
            assert b.js("document.documentElement.scrollHeight <= innerHeight"), size


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
        one, three, vectors = (os.path.join(folder, name + ".html") for name in ("one", "three", "vectors"))
        fsc(tool, folder, "viz", KERNEL, "x=random:0:fp32[1,201]", "-o", one)
        fsc(tool, folder, "viz", KERNEL, "x=random:0:fp32[3,201]", "-o", three)
        lines = json.loads(fsc(tool, folder, "profile", KERNEL, "x=random:0:fp32[1,201]", "--gpu=h200",
                               "--registers=32", "--json"))["lines"]
        b.open(one)
        costs(b, lines)
        b.open(three)
        for name in SHARED:
            conflicts(b, tool, folder, name)
        fsc(tool, folder, "viz", KERNEL, "x=random:0:fp32[1,200]", "-o", vectors)
        elements(b, vectors)
        memory(b, three)
        in_view(b, three)
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
