# `fsc profile --against` tells what changed since an earlier profile: lines that moved down the file are the same lines,
# the greatest change comes first, and the same call changes nothing. --html has the same, in one page without a network.
# RUN: %python %s fsc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
X, Y = "x=random:0:fp32[64,1024]", "y=y.npy"
KERNEL = """@kernel(grid=(n,))
def k(y: *fp32[n, 1024], x: *const fp32[n, 1024], n: i32):
    at = program_id(0) * 1024 + arange(0, 1024)
    v = load(x + at)
    s = sum(v, axis=0)
    store(y + at, %s)
"""


def profile(tool, folder, file, *words, status=0):
    done = subprocess.run([tool, "profile", file, X, Y, *words], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def against(tool, folder, file, *words):
    text = profile(tool, folder, file, "--against", "before.json", *words)
    found = json.loads(profile(tool, folder, file, "--against", "before.json", "--json", *words))["against"]
    return text[text.index("against before.json"):], found


tool = os.path.abspath(shutil.which(sys.argv[1]) or sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    write(folder, "k.dsl", KERNEL % "v / s")
    before = profile(tool, folder, "k.dsl", "--json")
    write(folder, "before.json", before)
    assert [l["text"] for l in json.loads(before)["lines"] if l["line"] == 4] == ["    v = load(x + at)"]

    text, same = against(tool, folder, "k.dsl")
    assert same["changes"] == [] and "no line counts otherwise" in text, text

    # three lines above, one line rewritten: it alone changed, and is known by its place
    write(folder, "k.dsl", "# a\n# b\n# c\n" + KERNEL % "exp(v) / exp(s)")
    text, found = against(tool, folder, "k.dsl")
    assert [(c["line"], c["line_then"]) for c in found["changes"]] == [(9, 6)], found
    assert re.search(r"1\. line 9 \(then 6\): \+.* us  \| store\(y \+ at, exp\(v\) / exp\(s\)\)\n.*ex2 0 -> \d+", text), text
    assert found["changes"][0]["seconds"] > found["changes"][0]["seconds_then"] > 0

    # a line more, a line less
    write(folder, "k.dsl", (KERNEL % "v / s").replace("    s =", "    v = exp2(v)\n    s ="))
    text, found = against(tool, folder, "k.dsl")
    assert [c["line"] for c in found["changes"] if c["line_then"] == 0] == [5] and "line 5 is new" in text, text
    write(folder, "k.dsl", (KERNEL % "v").replace("    s = sum(v, axis=0)\n", ""))
    text, found = against(tool, folder, "k.dsl")
    gone = [c for c in found["changes"] if c["line"] == 0]
    assert [c["line_then"] for c in gone] == [5] and "line 5 is gone" in text, text
    moved = [abs(c["seconds"] - c["seconds_then"]) for c in found["changes"]]
    assert moved == sorted(moved, reverse=True), moved

    # half of each vector is masked off: findings come and go
    write(folder, "k.dsl", (KERNEL % "v / s").replace("n: i32)", "n: i32, STEP: constexpr = 1)")
          .replace("load(x + at)", "load(x + program_id(0) * 1024 + arange(0, 1024) * STEP % 1024)"))
    text, found = against(tool, folder, "k.dsl", "STEP=33")
    assert "scattered" in found["came"] and "  newly found: scattered\n" in text, text
    write(folder, "before.json", profile(tool, folder, "k.dsl", "STEP=33", "--json"))
    text, found = against(tool, folder, "k.dsl")
    assert "scattered" in found["went"] and "  no longer found: scattered\n" in text, text

    profile(tool, folder, "k.dsl", "--against", "before.json", "--html", "page.html")
    with open(os.path.join(folder, "page.html"), encoding="utf-8") as file:
        page = file.read()
    facts = re.search(r'<script id="facts" type="application/json">(.*?)</script>', page, re.S).group(1)
    with open(os.path.join(folder, "k.dsl"), encoding="utf-8") as file:
        assert json.loads(facts)["source"] == file.read()
    assert not re.search(r"(src|href)=\"(?!data:)|@import|url\(|https?://", page.replace(facts, "")), "a page of one file"

    for wrong in ("{}", "no JSON", '{"schema_version": 1, "lines": []}'):
        write(folder, "wrong.json", wrong)
        assert "not what 'fsc profile --json'" in profile(tool, folder, "k.dsl", "--against", "wrong.json", status=1)
    assert "missing.json" in profile(tool, folder, "k.dsl", "--against", "missing.json", status=1)
print("compared")
