# Control characters and marks that turn the direction of text, in a source and its name,
# come to no terminal as they are.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t
import os
import re
import subprocess
import sys

TOOL, FOLDER = sys.argv[1:3]
os.chdir(FOLDER)
# Escape, C1's CSI as UTF-8 and as a byte, right-to-left override, backspace and delete; tabs and letters stay.
EVIL = "\x1b[31m \x9b32m \u202e \b \x7f"
LINE = '    "ä %s"; ' % EVIL
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ufffd]")
HEAD = "@kernel(grid=(1,))\ndef k(x: *fp32[8], y: *fp32[8]):\n"
BODY = LINE + "i = arange(0, 8)\n" + LINE + "store(y + i, load(x + i))\n"


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def run(code, *words, data=None):
    done = subprocess.run([TOOL, *words], capture_output=True, timeout=120, input=data)
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode == code and not BAD.search(text), (words, done.returncode, BAD.search(text), text)
    return text


name = write("esc\x1b[31m\x9b\nname.dsl", HEAD + LINE + "store(x, lod(y))\n")
text = run(1, name, "-o", "out.ptx")
assert "esc<1B>[31m<C2><9B><0A>name.dsl:3:" in text and "ä <1B>[31m <C2><9B>32m <E2><80><AE> <08> <7F>" in text, text
source, caret = text.splitlines()[1:3]
assert source.index("lod") == caret.index("^"), text
assert "static \x07".replace("\x07", "<07>") in run(0, write("print.dsl", HEAD + '    static_print("static \\x07")\n   '
                                                                                 ' store(x, load(y))\n'), "-o",
                                                    "out.ptx")
assert "<FF>" in run(1, "-", "-o", "out.ptx", data=b"@kernel(grid=(1,))\ndef k(x: *fp32):\n    a = \xff\n")
good = write("good.dsl", HEAD + BODY)
X, Y = "x=random:0:fp32[8]", "y=zeros:fp32[8]"
assert "<1B>[31m" in run(0, "run", "--coverage", good, X, Y)
assert "<1B>[31m" in run(0, "profile", good, X, Y)
text = run(1, "run", "--check",
           write("check.dsl", HEAD + LINE + "store(y + arange(0, 8), load(x + 8 + arange(0, 8)))\n"), X, Y)
source, caret = [line[line.index("| "):] for line in text.splitlines() if re.match(r" +\d* \| ", line)][:2]
assert "<1B>" in source and source.index("load(") == caret.index("^"), text
text = run(1, "run", "--device-debug", "--device=cpu",
           write("assert.dsl", HEAD + '    device_assert(load(x) > 100.0, "no \\x1b[31m")\n    store(y, 1.0)\n'), X, Y)
assert "no <1B>[31m" in text, text
# In colour the colours are fsc's own.
text = subprocess.run([TOOL, name, "-o", "out.ptx", "--color=always"], capture_output=True, text=True,
                      timeout=120).stderr
assert set(re.findall("\x1b(.*?m)", text)) == {"[0m", "[1m", "[31m", "[32m"} and "<1B>[31m" in text, text
