#!/usr/bin/env python3
"""browser.py FSC CHROMIUM CHROMEDRIVER BUILD [SHOTS]: the pages of `fsc viz` as somebody uses them.

The sample pages are built, opened in a browser without a screen and driven by pointer and keys, at the width of a
laptop and of a phone, light and dark. What the page then shows is compared with NumPy. With SHOTS, a folder, pictures
of what was seen are left there.
"""

import base64
import os
import shutil
import subprocess
import sys
import time

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tool", "Inputs"))
from vizfacts import Page  # noqa: E402

LAPTOP, PHONE = (1280, 800), (390, 844)


class Browser:
    """One page in one browser."""

    def __init__(self, chromium, driver, shots):
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(executable_path=driver))
        self.driver.set_script_timeout(120)
        self.shots = shots

    def open(self, path, size=LAPTOP, scheme="light"):
        self.show("file://" + os.path.abspath(path), size, scheme)

    def show(self, url, size, scheme):
        self.resize(size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get(url)

    def resize(self, size):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": size[0], "height": size[1], "deviceScaleFactor": 1,
                                     "mobile": size[0] < 600})

    def js(self, code, *args):
        return self.driver.execute_script("return " + code, *args)

    def get(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css):
        return self.js("document.querySelector(arguments[0]).textContent", css)

    def click(self, css):
        self.get(css).click()

    def choose(self, css, value):
        Select(self.get(css)).select_by_value(str(value))

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def move(self, element):
        """The pointer to its middle, from elsewhere."""
        ActionChains(self.driver).move_to_element(self.get("h1")).move_to_element(element).perform()

    def shot(self, name, whole=False):
        if not self.shots:
            return
        if whole:
            width, height = self.js("[innerWidth, document.documentElement.scrollHeight]")
            self.resize((width, height))
        self.driver.save_screenshot(os.path.join(self.shots, name + ".png"))

    def errors(self):
        return [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    # ---- What the page shows

    def at(self):
        now, all_ = self.text("#count").split("/")
        return int(now), int(all_)

    def cells(self):
        return self.js("[...document.querySelectorAll('#tile .cell')].map((c) => c.textContent)")

    def numbers(self):
        return np.array([number(text) for text in self.cells()])

    def masked(self):
        return self.js("[...document.querySelectorAll('#tile .cell')].map((c) => c.classList.contains('masked'))")

    def watch(self):
        """What the page knows so far: {name: the text of its value}."""
        return dict(self.js("[...document.querySelectorAll('#watch dl > div')].map((d) => [d.dataset.name, "
                            "d.querySelector('dd span').textContent])"))

    def known(self, name):
        found = {k: v for k, v in self.watch().items() if k.startswith(name)}
        assert len(found) == 1, (name, self.watch())
        return number(next(iter(found.values())))

    def seek(self, words, first=True):
        """Goes by the key to the first (next) frame whose sentence or op has the words."""
        if first:
            self.press(Keys.HOME)
        for _ in range(self.at()[1]):
            if words in self.text("#sentence") or words in self.text("#detail"):
                return
            self.press(Keys.ARROW_RIGHT)
        raise AssertionError(f"no frame says {words!r}")


def number(text):
    return float(text.replace("−", "-").replace("∞", "inf").replace("✓", "1").replace("·", "0"))


def near(got, want, digits=3):
    """As a cell shows it: some three digits."""
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(want, float), rtol=2 * 10.0 ** -digits,
                               atol=6e-4 if digits < 4 else 1e-7)


def softmax(row):
    e = np.exp(row.astype(np.float64) - row.max())
    return e / e.sum()


# ---- The cases -------------------------------------------------------------------------------------------------------


def plays_softmax(b, page, path):
    b.open(path)
    run = page.runs[0]
    x = page.array(run, "x")
    n = x.shape[1]
    assert b.text("#kernel") == "softmax" and b.at()[0] == 1
    b.seek("Load")
    cells = b.numbers()
    near(cells[:n], x[0])
    assert (cells[n:] == -np.inf).all() and b.masked() == [False] * n + [True] * (256 - n)
    assert "load(" in b.text("#source li.now span") and "load" in b.text("#ir li.now span")
    assert b.js("[...document.querySelectorAll('#ptx li.linked')].some((l) => l.textContent.includes('ld.global'))")
    b.shot("softmax-load")
    b.seek("lane ⊕ 16")
    assert len(b.all(".lanes path")) == 16 and b.text(".phases .now") == "lane ⊕ 16"
    lanes = b.js("[...document.querySelectorAll('.lane div')].map((l) => l.textContent)")
    padded = np.concatenate([x[0], np.full(256 - n, -np.inf)])
    near([number(t) for t in lanes], padded.reshape(2, 32, 4)[0].max(axis=1))  # warp 0 of 2, 32 lanes, vectors of 4
    b.shot("softmax-shuffle", whole=True)
    b.resize(LAPTOP)
    b.seek("Wait for all threads")
    assert "64 threads" in b.text("#threads") and len(b.all(".arrivals span")) == 2
    b.press(Keys.END)
    near(b.known("max(v"), x[0].max(), 6)
    near(b.known("sum(e"), np.exp(x[0].astype(np.float64) - x[0].max()).sum(), 6)
    near(b.known("sum of 200 elements stored to y"), 1.0, 6)
    near(b.numbers()[:n], softmax(x[0]))
    b.seek("to the power")
    near(b.numbers()[:n], np.exp(x[0].astype(np.float64) - x[0].max()))


def goes_through_time(b, page, path):
    b.open(path)
    total = b.at()[1]
    assert total > 10
    b.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert b.at()[0] == 4
    b.press(Keys.ARROW_LEFT)
    b.click("#next")
    b.click("#back")
    assert b.at()[0] == 3 and b.js("document.getElementById('time').value") == "2"
    b.js("(() => { const t = document.getElementById('time'); t.value = 7; t.dispatchEvent(new Event('input')); })()")
    assert b.at()[0] == 8
    b.get("#time").send_keys(Keys.ARROW_RIGHT)
    assert b.at()[0] == 9
    b.js("document.activeElement.blur()")
    b.press(Keys.END)
    assert b.at()[0] == total and b.get("#next").get_attribute("disabled")
    b.click("#first")
    assert b.at()[0] == 1
    b.choose("#speed", 120)
    b.js("document.activeElement.blur()")
    b.press(Keys.SPACE)
    assert b.get("#play").get_attribute("aria-label") == "Pause"
    until(lambda: b.at()[0] > 5)
    b.press(Keys.SPACE)
    stopped = b.at()[0]
    time.sleep(0.4)
    assert b.at()[0] == stopped and b.get("#play").get_attribute("aria-label") == "Play"
    b.click("#play")
    until(lambda: b.at()[0] == total)  # to the end, and there it stops
    until(lambda: b.get("#play").get_attribute("aria-label") == "Play")
    b.click("#scalars")
    assert b.at()[1] > total
    b.click("#scalars")
    line = next(i for i, text in enumerate(page.facts["source"].split("\n"), 1) if "e = exp" in text)
    b.click("#first")
    b.click(f"#source li[data-line='{line}'] span")
    assert f"line {line}" in b.text("#detail")


def until(condition, seconds=20):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, "it never happened"
        time.sleep(0.05)


def chooses(b, page, path):
    """Programs, warps, elements, colours, data."""
    b.open(path)
    run = page.runs[0]
    x = page.array(run, "x")
    b.seek("Load")
    b.press("]")
    assert "not recorded" in b.text("#sentence") and b.cells() == [] and "x[1, 0] … x[1, 199]" in b.text("#programs p")
    b.click("#programs button[data-number='3']")
    b.seek("Load")
    near(b.numbers()[: x.shape[1]], x[3])
    b.press("w")
    assert b.js("document.getElementById('warp').value") == "0"
    dim = b.js("document.querySelectorAll('#tile .cell.dim').length")
    assert dim == 128, dim  # half of the 256 belong to the other warp
    b.press("w")
    assert "Warp 1" in b.text("#threads h3")
    b.choose("#warp", -1)
    for colour, count in (("lane", 32), ("warp", 2), ("register", 4)):
        b.choose("#colour", colour)
        hues = b.js("new Set([...document.querySelectorAll('#tile .cell')].map((c) => "
                    "c.style.getPropertyValue('--hue'))).size")
        assert hues == count, (colour, hues)
    b.shot("softmax-owners")
    b.choose("#colour", "value")
    b.click("#views button:nth-child(3)")  # the load's mask
    assert b.cells() == ["✓"] * 200 + ["·"] * 56
    b.click("#views button:nth-child(2)")  # its addresses
    b.click("#tile .cell[data-i='7']")
    assert b.text("#owner b") == "x[3, 7]"
    b.click("#views button:nth-child(1)")
    b.click("#tile .cell[data-i='37']")
    layout = page.code(run)["layouts"][0]["bases"]
    assert layout[0] == [1, 2] and layout[1] == [4, 8, 16, 32, 64] and layout[2] == [128]
    assert "element [37]" in b.text("#owner") and "warp 0, lane 9" in b.text("#owner")
    b.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    columns = b.js("tile.columns")
    assert f"element [{38 + columns}]" in b.text("#owner")
    near(number(b.text("#owner b")), x[3][38 + columns], 6)
    b.choose("#data select[data-name='n_cols']", 100)
    near(b.numbers()[:100], page.array(next(r for r in page.runs if page.scalar(r, "n_cols") == "100"), "x")[3])
    b.click("#random")
    other = next(r for r in page.runs if page.scalar(r, "n_cols") == "100" and "S=1" in r["label"])
    near(b.numbers()[:100], page.array(other, "x")[3])
    b.choose("#data select[data-name='BLOCK']", 128)
    b.seek("Load")
    assert len(b.cells()) == 128
    b.choose("#data select[data-name='n_rows']", 12)
    assert len(b.all("#programs button")) == 12
    b.click("#reset")
    assert len(b.all("#programs button")) == 4 and b.at()[0] == 1 and b.get("#reset").get_attribute("disabled")


def plays_tiled(b, page, path):
    """The running maximum and the sum of exponentials, chunk by chunk."""
    b.open(path)
    x = page.array(page.runs[0], "x")[0].astype(np.float64)
    seen = []
    b.press(Keys.HOME)
    for _ in range(b.at()[1]):
        known = b.watch()
        pair = (known.get("m"), known.get("s"))
        if None not in pair and (not seen or seen[-1] != pair):
            seen.append(pair)
        b.press(Keys.ARROW_RIGHT)
    chunks = [x[: k * 64] for k in (1, 2, 3, 4)]
    maxima = {f"{number(m):.5f}" for m, _ in seen if np.isfinite(number(m))}
    assert {f"{c.max():.5f}" for c in chunks} == maxima, (maxima, seen)
    sums = [number(s) for _, s in seen]
    for chunk in chunks:
        want = np.exp(chunk - chunk.max()).sum()
        assert min(abs(s - want) for s in sums) < 1e-5 * want, (want, sums)
    near(b.known("sum of 200 elements stored to y"), 1.0, 5)
    b.shot("tiled", whole=True)


def plays_columns(b, page, path):
    b.open(path)
    x = page.array(page.runs[0], "x")
    b.seek("Load")
    near(b.numbers().reshape(32, 8)[:24], x[:, :8])
    assert sum(b.masked()) == 8 * 8
    b.press(Keys.END)
    y = b.numbers().reshape(32, 8)[:24]
    near(y, np.stack([softmax(x[:, k]) for k in range(8)], axis=1))
    b.shot("columns", whole=True)


def plays_layernorm(b, page, path):
    b.open(path)
    run = page.runs[0]
    x, w, bias = (page.array(run, name).astype(np.float64) for name in ("x", "weight", "bias"))
    b.press(Keys.END)
    v = (x[0] - x[0].mean()) / np.sqrt(x[0].var() + 1e-5) * w + bias
    near(b.numbers()[:100], v)
    near(b.known("sum(v"), x[0].sum(), 5)
    b.shot("layernorm", whole=True)


def fits_a_phone(b, page, path):
    for size in (PHONE, LAPTOP):
        for scheme in ("light", "dark"):
            b.open(path, size, scheme)
            b.seek("lane ⊕ 8")
            assert b.js("document.documentElement.scrollWidth <= innerWidth"), (size, scheme)
            play = b.js("(() => { const r = document.getElementById('play').getBoundingClientRect(); return [r.top >= "
                        "0, r.bottom <= innerHeight, r.height]; })()")
            assert play[0] and play[1] and play[2] >= 34, play
            paper, ink = b.js("[getComputedStyle(document.body).backgroundColor, "
                              "getComputedStyle(document.body).color]")
            light = lambda rgb: sum(int(c) for c in rgb[4:-1].split(",")[:3]) / 3  # noqa: E731
            assert (light(paper) > 200 and light(ink) < 60) if scheme == "light" else (light(paper) < 60 and
                                                                                       light(ink) > 200), (paper, ink)
            shown = b.js("['source', 'ir', 'ptx'].filter((p) => getComputedStyle(document.getElementById(p)).display "
                         "!== 'none')")
            assert shown == (["source"] if size == PHONE else ["source", "ir", "ptx"]), shown
            if size == PHONE:
                b.click("#tabs button[data-pane='ptx']")
                assert b.get("#ptx").is_displayed() and not b.get("#source").is_displayed()
                b.click("#tabs button[data-pane='source']")
            b.shot(f"softmax-{size[0]}-{scheme}", whole=True)
    names = b.js("[...document.querySelectorAll('button, select, input')].filter((e) => !(e.textContent.trim() || "
                 "e.getAttribute('aria-label') || e.closest('label'))).length")
    assert names == 0, "a control without a name"


def shows_faults(b, tool, folder):
    path = os.path.join(folder, "fault.html")
    source = os.path.join(folder, "a fault.dsl")  # a name with a blank
    shutil.copy(os.path.join(ROOT, "tests/tool/Inputs/fault.dsl"), source)
    subprocess.run([tool, "viz", source, "x=random:0:fp32[200]", "y=out.npy", "-o", path], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    b.open(path)
    assert b.get("#faults").is_displayed() and "out-of-bounds" in b.text("#faults")
    assert "14 times" in b.js("document.querySelector('#source li.fault').dataset.fault")
    assert b.text("#faults").startswith("out-of-bounds: program (3, 0, 0)"), b.text("#faults")
    b.click("#faults button")
    assert "line 4" in b.text("#detail") and b.js("now.number") == 3
    b.seek("Load")
    assert b.js("document.querySelectorAll('#tile .cell.outside').length") == 56
    b.shot("fault", whole=True)


def shows_numbers(b, path):
    """All digits of an integer; NaN and infinities in the picture of a buffer have colours of their own,
    not their neighbour's."""
    b.open(path)
    assert b.js("long(1234567, 'i32')") == "1234567" and b.js("long(-1234567, 'i64')") == "−1234567"
    assert b.js("long(1234567, 'fp32')") == "1234567"
    data = base64.b64encode(np.array([1, np.nan, 0, 1, np.inf, 0], np.float32).tobytes()).decode()
    pixels = b.js(f"""(() => {{ const c = document.createElement('canvas'); c.width = 6; c.height = 1;
        drawBuffer(c, {{pack: 'fp32', data: '{data}', bytes: 24, shape: [6]}}, 6, 1, 1, 1, null,
                   {{load: {{first: 0, end: 24, bytes: 24}}}});
        const bytes = c.getContext('2d').getImageData(0, 0, 6, 1).data;
        return Array.from({{length: 6}}, (_, i) => bytes.slice(4 * i, 4 * i + 4).join()); }})()""")
    assert pixels[1] == pixels[2] == pixels[5] != pixels[0] == pixels[3] == pixels[4], pixels


def loads_ahead(b, tool, folder):
    """What copies bring into shared memory appears at the wait, as numbers of the buffer's type."""
    path = os.path.join(folder, "ahead.html")
    subprocess.run([tool, "viz", os.path.join(ROOT, "dsl_examples/softmax_tiled.dsl"), "x=random:0:fp32[2,1000]",
                    "y=out.npy", "-D", "STAGES=3", "-D", "BLOCK=256", "--num-warps=2", "-o", path],
                   check=True, stdout=subprocess.DEVNULL)
    b.open(path)
    page = Page(path)
    b.seek("newest groups have arrived")
    words = [number(t) for t in b.js("[...document.querySelectorAll('#shared .cell.stored')].slice(-4).map((c) => "
                                     "c.lastChild.textContent)")]
    x = page.array(page.runs[0], "x")[0]
    assert any(np.allclose(x[i:i + 4], words, atol=6e-4) for i in range(0, 256, 4)), words
    every_frame(b, path)


def every_frame(b, path):
    """No frame of any program of any run fails, with scalar ops and without."""
    b.open(path)
    b.js("""(() => { for (const run of runs) { pickRun(run);
        for (let n = 0; n < Math.min(product(run.grid), 6); n++) { pickProgram(n);
        for (let i = 0; i < now.frames.length; i++) go(i); } } })()""")


def other_kernels(b, tool, folder):
    """Scans, combine functions, atomics, packed programs, fp64, fp8, two axes: no frame of them fails."""
    with open(os.path.join(ROOT, "bench", "counters.txt"), encoding="utf-8") as file:
        words = {line.split()[0]: line.split()[1:] for line in file if line.strip() and not line.startswith("#")}
    for name in ("argmax", "prefix_sum", "histogram", "softmax_small_rows", "row_sum_fp64", "quantize_fp8", "transpose",
                 "silu", "softmax_persistent"):
        path = os.path.join(folder, name + ".html")
        given = [w.format(R=3, N=70, RN=210, T="fp32") for w in words[name]]
        subprocess.run([tool, "viz", os.path.join(ROOT, "dsl_examples", name + ".dsl"), *given, "-o", path], check=True,
                       stdout=subprocess.DEVNULL)
        every_frame(b, path)


def checks_can_fail(b, page, path, folder):
    """A page in which one number of one tile is another, and one in which a mask is: both must fail."""
    run = page.runs[0]
    _, values, _ = next(s for s in page.steps(run, run["programs"][0]) if s[0]["kind"] == "exp")
    right = next(iter(values.values()))
    wrong = right.copy()
    wrong[17] += 0.01
    mask = next(m for m in page.results(run, run["programs"][0], "icmp"))
    other = mask.copy()
    other[199] = 0
    for old, new in ((right, wrong), (mask, other)):
        text = base64.b64encode(old.tobytes()).decode()
        assert text in page.text
        altered = os.path.join(folder, "altered.html")
        with open(altered, "w", encoding="utf-8") as file:
            file.write(page.text.replace(text, base64.b64encode(new.tobytes()).decode(), 1))
        try:
            plays_softmax(b, page, altered)
        except AssertionError:
            continue
        raise SystemExit("an altered page was not seen")


def main(tool, chromium, driver, build, shots=None):
    subprocess.run(["cmake", "--build", build, "--target", "viz-pages"], check=True, stdout=subprocess.DEVNULL)
    folder = os.path.join(build, "pages")
    path = {name: os.path.join(folder, name + ".html")
            for name in ("softmax", "softmax_tiled", "softmax_columns", "layernorm")}
    pages = {name: Page(p) for name, p in path.items()}
    b = Browser(chromium, driver, shots)
    cases = [(plays_softmax, "softmax"), (goes_through_time, "softmax"), (chooses, "softmax"),
             (fits_a_phone, "softmax"), (plays_tiled, "softmax_tiled"), (plays_columns, "softmax_columns"),
             (plays_layernorm, "layernorm")]
    try:
        for case, name in cases:
            case(b, pages[name], path[name])
            assert not b.errors(), b.errors()
            print("ok", case.__name__, flush=True)
        shows_faults(b, tool, folder)
        shows_numbers(b, path["softmax"])
        loads_ahead(b, tool, folder)
        for name in path:
            every_frame(b, path[name])
        other_kernels(b, tool, folder)
        assert not b.errors(), b.errors()
        print("ok shows_faults, every_frame, other_kernels", flush=True)
        checks_can_fail(b, pages["softmax"], path["softmax"], folder)
    except BaseException:
        b.driver.save_screenshot(os.path.join(folder, "failed.png"))
        print("a picture:", os.path.join(folder, "failed.png"))
        raise
    finally:
        b.driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
