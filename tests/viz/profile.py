#!/usr/bin/env python3
"""profile.py FSC CHROMIUM CHROMEDRIVER: the page of `fsc profile --html` as somebody reads it.

Wide, narrow, light and dark; by pointer and by keys. What it shows is compared with the JSON of the same profile.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import LAPTOP, PHONE, ROOT, Browser, Keys  # noqa: E402

KERNEL = os.path.join(ROOT, "dsl_examples", "softmax_tiled.dsl")
WORDS = [KERNEL, "x=random:0:fp32[64,4000]", "y=y.npy", "--gpu=h200", "--registers=40"]


def profile(tool, folder, *words):
    done = subprocess.run([tool, "profile", *WORDS, *words], cwd=folder, text=True, stdout=subprocess.PIPE, timeout=120,
                          check=True)
    return done.stdout


def share(cell):
    return float(cell.replace("%", "")) if cell.strip() else 0.0


def shows_heat(b, facts):
    """Each metric's shares are those of the counts, and the hottest line is the most coloured."""
    metrics = {"instructions": lambda l: l["instructions"], "shuffles": lambda l: l["shuffles"],
               "sectors of global memory": lambda l: sum(l.get(k, {}).get("sectors", 0) for k in ("load", "store"))}
    for name, of in metrics.items():
        b.js("void Array.from(document.querySelector('#metric').options).forEach((o) => { if (o.text === "
             "arguments[0]) { o.selected = true; o.parentNode.dispatchEvent(new Event('change')); } })", name)
        rows = b.js("[...document.querySelectorAll('#source tr.line')].map((tr) => [tr.id, tr.cells[1].textContent, "
                    "tr.style.background])")
        all_ = sum(of(l) for l in facts["lines"])
        assert all_ > 0 and len(rows) == len(facts["lines"]), (name, rows)
        for line in facts["lines"]:
            cell, colour = next(r[1:] for r in rows if r[0] == f"L{line['line']}")
            assert abs(share(cell) - 100 * of(line) / all_) < 0.06, (name, line["line"], cell)
            alpha = float(re.search(r"([\d.]+)\)$", colour).group(1)) if colour else 0
            assert abs(alpha - (0.06 + 0.6 * of(line) / all_ if of(line) else 0)) < 0.01, (name, colour)


def opens_lines(b, facts):
    findings = facts["advice"]["findings"]
    assert b.js("[...document.querySelectorAll('#advice li b')].map((e) => e.textContent)") == \
        [f["title"] for f in findings] and findings
    line = next(f for f in findings if f["lines"])["lines"][0]
    b.js("document.querySelector(arguments[0]).click()", f"#advice a[href='#L{line}']")
    assert b.js("location.hash") == f"#L{line}"
    top = b.js("document.querySelector(arguments[0]).getBoundingClientRect().top", f"#L{line}")
    assert 0 <= top < b.js("innerHeight"), top
    b.js("document.querySelector(arguments[0]).focus()", f"#L{line}")
    b.press(Keys.ENTER)
    said = b.text(f"#L{line} + tr.did")
    assert "shuffles" in said and "⚠ lanes reduce in every round of a loop" in said, said
    assert b.js("document.querySelector(arguments[0]).getAttribute('aria-expanded')", f"#L{line}") == "true"
    b.press(Keys.ENTER)
    assert not b.all("#source tr.did")


def main():
    tool, chromium, driver = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    b = Browser(chromium, driver, sys.argv[4] if len(sys.argv) > 4 else None)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "before.json"), "w", encoding="utf-8") as file:
            file.write(profile(tool, folder, "--json", "--num-warps=8"))
        facts = json.loads(profile(tool, folder, "--json", "--against=before.json", "--html=page.html"))
        page = os.path.join(folder, "page.html")
        colours = set()
        for size, scheme in ((LAPTOP, "light"), (PHONE, "dark"), (LAPTOP, "dark")):
            b.open(page, size, scheme)
            assert b.text("h1") == "softmax_tiled"
            assert b.js("document.documentElement.scrollWidth") <= size[0], "the page is wider than its window"
            colours.add(b.js("getComputedStyle(document.body).backgroundColor"))
            shows_heat(b, facts)
            opens_lines(b, facts)
            b.shot(f"profile-{size[0]}-{scheme}", whole=True)
        assert len(colours) == 2, colours
        parts = b.js("[...document.querySelectorAll('#parts tr')].map((tr) => tr.cells[0].textContent)")
        assert parts == [p["name"] for p in facts["advice"]["parts"]], parts
        changes = b.js("document.querySelectorAll('#changes tr').length")
        assert changes == len(facts["against"]["changes"]) + 1 > 1, changes
        assert b.errors() == [], b.errors()
    b.driver.quit()
    print("read")


if __name__ == "__main__":
    main()
