#!/usr/bin/env python3
"""explore.py FSC CHROMIUM CHROMEDRIVER [SHOTS]: `fsc explore` in a browser: the page follows the file, at its step."""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tool", "Inputs")]
from browser import LAPTOP, PHONE, Browser, until  # noqa: E402
from explored import HELPER, KERNEL, Explored, write  # noqa: E402


def main():
    tool, chromium, driver = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    b = Browser(chromium, driver, sys.argv[4] if len(sys.argv) > 4 else None)
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "k.dsl", KERNEL)
        write(folder, "helper.dsl", HELPER)
        e = Explored(tool, folder, "k.dsl")
        b.show(e.url, LAPTOP, "light")
        until(lambda: b.all("#kernel") and b.text("#live") == "live", 60)
        assert "BLOCK" not in b.text("#file") and "2 warps, sm_90" in b.text("#file"), b.text("#file")
        b.seek("Multiply")
        was, first = b.at(), b.cells()[0]
        write(folder, "helper.dsl", HELPER.replace("* 2", "* 3"))
        until(lambda: b.all("#kernel") and b.cells() and b.cells()[0] != first, 60)
        assert b.at() == was and "Multiply" in b.text("#sentence"), (b.at(), was)
        assert abs(float(b.cells()[0].replace("−", "-")) / float(first.replace("−", "-")) - 1.5) < 0.01
        write(folder, "k.dsl", KERNEL.replace("twice(load", "twise(load"))
        until(lambda: b.all("#problem"), 60)
        assert "unknown name" in b.text("#problem .error") and "^~~~" in b.text("#problem")
        b.shot("explore-problem")
        b.show(e.url, PHONE, "dark")
        assert b.js("document.documentElement.scrollWidth") <= PHONE[0]
        b.shot("explore-problem-phone")
        write(folder, "k.dsl", KERNEL)
        until(lambda: b.all("#kernel") and b.text("#live") == "live", 60)
        assert b.cells()
        code, _, _ = e.end()
        assert code == 0
        until(lambda: "has ended" in b.text("#live"))
        assert b.errors() == [], b.errors()
    b.driver.quit()
    print("explored")


if __name__ == "__main__":
    main()
