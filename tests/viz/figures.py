#!/usr/bin/env python3
"""figures.py FSC CHROMIUM CHROMEDRIVER [--bless]: the figures of the lessons are what `fsc viz` shows today.

A lesson's figure is the picture of one step of the page that its comment `<!-- fsc viz … -->` makes; lesson 7 has the
waves that `fsc info` counts. Compared are the texts of the pictures, in their order: the numbers in the tile and the
sentence above it. Where they stand is the browser's affair. --bless writes docs/tutorials/figures anew.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "site"))
from browser import LAPTOP, ROOT, Browser  # noqa: E402
from build import FRAME, LISTING, read  # noqa: E402

LESSONS = os.path.join(ROOT, "docs", "tutorials")
STEPS = {  # the lesson's file: words of the step, and of the call where they are others than the comment's
    "1-first-kernel": ("Store 8", None),
    "2-masks": ("Load 5", None),
    "3-reductions": ("⊕ 16", None),
    "4-stability": ("e to the power", None),
    "5-fusion": ("Divide", "dsl_examples/softmax.dsl 'x=random:0:fp32[1,60]' y=out.npy --num-warps=1"),
    "6-layouts": ("shared_load", "dsl_examples/transpose.dsl 'x=random:0:fp32[16,16]' y=y.npy BLOCK=16"),
    "8-rows": ("Load", "dsl_examples/softmax.dsl 'x=random:0:fp32[1,49]' y=out.npy --num-warps=1"),
}
WAVES = "7-occupancy"
INFO = "dsl_examples/softmax.dsl --gpu=a100 --registers=64 --num-warps=8 n_rows=440 --json"
SQUARE, ROW = 12, 54  # pixels of a block, blocks of a row


def fsc(tool, folder, command, words, *more):
    return subprocess.run([tool, command, *shlex.split(words), *more], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=True).stdout


def picture(b, tool, folder, lesson):
    """The SVG of the step, with coordinates in tenths of a pixel."""
    text = read(os.path.join(LESSONS, lesson + ".md"))
    frame = FRAME.search(text)
    step, words = STEPS[lesson]
    for file, listing in LISTING.findall(text[:frame.start()]):
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(listing)
    fsc(tool, folder, "viz", words or frame.group("words"), "-o", "page.html")
    b.open(os.path.join(folder, "page.html"), LAPTOP, "light")
    b.seek(step)
    svg = b.js("pictureOf()").replace(' opacity="1"', "")
    return re.sub(r'(?<==")(\d+\.\d+)(?=")', lambda m: f"{float(m[1]):.1f}".removesuffix(".0"), svg)


def waves(tool, folder):
    """Blocks as squares, a wave below the other."""
    info = json.loads(fsc(tool, folder, "info", INFO))
    at_once, blocks, parts, y = info["sms"] * info["blocks_per_sm"], info["grid"][0], [], 0
    for wave in range(info["waves"]):
        here = min(at_once, blocks - wave * at_once)
        parts.append(f'<text x="4" y="{y + 17}" font-size="15">Wave {wave + 1}: {here} of {at_once} places</text>')
        for i in range(at_once):
            fill = "#2166ac" if i < here else "#e4e8ee"
            parts.append(f'<rect x="{4 + i % ROW * SQUARE}" y="{y + 26 + i // ROW * SQUARE}" width="{SQUARE - 2}" '
                         f'height="{SQUARE - 2}" fill="{fill}"/>')
        y += 26 + (at_once + ROW - 1) // ROW * SQUARE + 10
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{ROW * SQUARE + 8}" height="{y}" '
            f'font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n')


def texts(svg):
    root = ElementTree.fromstring(svg)
    return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")], len(list(root))


def main():
    tool, chromium, driver, *bless = sys.argv[1:]
    lessons, wrong = sorted(name[:-3] for name in os.listdir(LESSONS) if name[0].isdigit()), []
    assert lessons == sorted([*STEPS, WAVES]), lessons
    b = Browser(chromium, driver, None)
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, "dsl_examples"), os.path.join(folder, "dsl_examples"))
            for lesson in lessons:
                svg = waves(os.path.abspath(tool), folder) if lesson == WAVES else \
                    picture(b, os.path.abspath(tool), folder, lesson)
                path = os.path.join(LESSONS, "figures", lesson + ".svg")
                if bless:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w", encoding="utf-8") as out:
                        out.write(svg)
                if not os.path.exists(path) or texts(read(path)) != texts(svg):
                    wrong.append(f"{path} is not what the page shows: figures.py with --bless writes it")
    finally:
        b.driver.quit()
    print("\n".join(wrong) or f"{len(lessons)} figures")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
