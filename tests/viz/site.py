#!/usr/bin/env python3
"""site.py CHROMIUM CHROMEDRIVER HTML: the site that docs/site/build.py made, as somebody reads it.

Served on this machine, opened in a browser without a screen: every page of the navigation opens without a message in
the console and without scrolling sideways, every live page of a lesson goes a step on. The lessons do so wide and
narrow, light and dark. The search finds what a page says, and all that can be done by the keyboard alone.
"""
import functools
import http.server
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import LAPTOP, PHONE, Browser, Keys  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402


WIDE = (1920, 1080)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


class Reader(Browser):
    def go(self, url, size=LAPTOP, scheme="light"):
        self.show(url, size, scheme)
        time.sleep(0.05)

    def quiet(self, url):
        told = [m["message"] for m in self.driver.get_log("browser") if "favicon" not in m["message"]]
        assert not told, (url, told)
        wide, window = self.js("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= window, f"{url}: {wide} pixels wide in a window of {window}"


def play(b):
    """Every frame of the page goes a step on."""
    frames = b.all("iframe.kernel")
    for frame in frames:
        b.js("arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})", frame)
        b.driver.switch_to.frame(frame)
        before = wait(lambda: b.text("#count"))
        b.driver.find_element(By.ID, "next").click()
        assert b.text("#count") != before, before
        b.driver.switch_to.default_content()
    return len(frames)


def wait(value, seconds=10):
    for _ in range(seconds * 20):
        try:
            found = value()
            if found:
                return found
        except Exception:  # the page is not there yet
            pass
        time.sleep(0.05)
    raise AssertionError("nothing came")


def tab_to(b, css, most=60):
    """The key goes there, from wherever the focus is."""
    for _ in range(most):
        b.press(Keys.TAB)
        if b.js("document.activeElement.matches(arguments[0])", css):
            return
    raise AssertionError(f"{most} tabs do not come to {css}")


def by_keys(b, home):
    """From the front page to a word, a lesson, a step of its kernel, without a pointer."""
    b.go(home)
    tab_to(b, "input.sidebar-search")
    b.press("swizzle", Keys.ENTER)
    wait(lambda: b.all("#search-results li a"))
    tab_to(b, "#search-results li a", 200)
    b.press(Keys.ENTER)
    wait(lambda: "swizzle" in b.text("article").lower())
    b.go(home + "tutorials/3-reductions.html")
    tab_to(b, "a.skip-to-content")
    b.press(Keys.ENTER)
    tab_to(b, "iframe.kernel")
    b.driver.switch_to.frame(b.get("iframe.kernel"))
    before = wait(lambda: b.text("#count"))
    b.press(Keys.ARROW_RIGHT)
    assert b.text("#count") != before, before
    b.driver.switch_to.default_content()
    b.quiet("keys")


def main():
    chromium, driver, html = sys.argv[1:]
    if not os.path.exists(os.path.join(html, "index.html")):
        print(f"skipped: no {html}: ./bootstrap site makes it")
        return 77
    home, b = serve(html), Reader(chromium, driver, None)
    try:
        b.go(home)
        b.quiet("index")
        pages = b.js("[...new Set([...document.querySelectorAll('.sidebar-tree a.reference')]"
                     ".map(a => a.href.split('#')[0]))]")
        assert len(pages) > 60, pages
        frames = 0
        for url in pages:
            b.go(url)
            frames += play(b)
            b.quiet(url)
        assert frames >= 8, frames
        lessons = [url for url in pages if "/tutorials/" in url]
        assert len(lessons) > 8, lessons
        for url in [home, *lessons, home + "explanation/performance.html"]:
            for size, scheme in (PHONE, "dark"), (PHONE, "light"), (WIDE, "dark"):
                b.go(url, size, scheme)
                b.quiet((url, size, scheme))
        by_keys(b, home)
        b.go(home + "search.html?q=swizzle")
        wait(lambda: any("buffers" in a.text for a in b.all("#search-results li a")))
        print(f"{len(pages)} pages, {frames} live ones")
    finally:
        b.driver.quit()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
