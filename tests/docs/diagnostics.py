# Each page of docs/reference/diagnostics has a wrong example that gives its code and no other, and a right one that
# gives none; each code of the table has its page, and `fsc --explain` prints it.
# RUN: %python %s fsc
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDER = os.path.join(ROOT, "docs", "reference", "diagnostics")
HEAD = "@kernel(grid=(1,))\ndef k(x: *fp32, y: *fp32, n: i32, B: constexpr = 128):\n"
PAGE = re.compile(r"^## ([EWR]\d{4}): ([^\n]*)\n(.*?)(?=^## |\Z)", re.M | re.S)
BESIDE = re.compile(r"^```tune\n(.*?)^```", re.M | re.S)  # a tuning file, beside both examples
EXAMPLE = re.compile(r"^```(python|ir) (wrong|right)([^\n]*)\n(.*?)^```", re.M | re.S)
UNSHOWN = {"E0605"}  # what LLVM refuses is a bug of ours: no source is known that gives it


def source(text, kind):
    """An example as a file's bytes: a body gets its kernel, «…» is spelled out."""
    if kind == "python" and not re.search(r"^(@|def )", text, re.M):
        text = HEAD + re.sub(r"^(?=.)", "    ", text, flags=re.M)
    text = re.sub("«(\\d+) times (.)»", lambda m: m.group(2) * int(m.group(1)), text)
    parts = re.split("«byte (..)»", text)
    return b"".join(bytes([int(p, 16)]) if i % 2 else p.encode() for i, p in enumerate(parts))


def compile_example(tool, folder, beside, kind, options, text):
    """(exit code, the codes it gives, all that was printed)"""
    words, environment = shlex.split(options), dict(os.environ, NO_COLOR="1")
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    is_triton = re.search(r"^import triton$", text, re.M)
    path = os.path.join(folder, "example.ir" if kind == "ir" else "example.py" if is_triton else "example.dsl")
    with open(path, "wb") as file:
        file.write(source(text, kind))
    with open(os.path.join(folder, "example.tune"), "w", encoding="utf-8") as file:
        file.write(beside)
    if not beside:
        os.remove(file.name)
    start = [tool, words.pop(0), path] if words and words[0] in ("run", "info") else [tool, path, "-o", os.devnull]
    done = subprocess.run(start + words, capture_output=True, env=environment, timeout=60)
    printed = done.stderr.decode("utf-8", "replace")
    return done.returncode, set(re.findall(r"\[([EWR]\d{4})\]$", printed, re.M)), printed


def check_page(tool, folder, code, body):
    """Problems of one page, as sentences."""
    found = {which: (kind, options, text) for kind, which, options, text in EXAMPLE.findall(body)}
    if code in UNSHOWN and not found:
        return []
    if set(found) != {"wrong", "right"}:
        return ["%s: a page has one wrong and one right example, not %s" % (code, sorted(found))]
    problems = []
    beside = "".join(BESIDE.findall(body))
    status, codes, printed = compile_example(tool, folder, beside, *found["wrong"])
    if codes == {"E0604"} != {code}:
        return []  # no ptxas here
    if codes != {code} or (status == 0) != (code[0] != "E"):
        problems.append("%s: the wrong example ends with %d and gives %s\n%s" % (code, status, sorted(codes), printed))
    status, codes, printed = compile_example(tool, folder, beside, *found["right"])
    if status or codes:
        problems.append("%s: the right example ends with %d\n%s" % (code, status, printed))
    return problems


def main():
    tool = os.path.abspath(sys.argv[1])
    with open(os.path.join(ROOT, "compiler", "base", "diag.def"), encoding="utf-8") as file:
        rows = set(re.findall(r"^DIAG\((\w+),", file.read(), re.M))
    pages, problems = {}, []
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            for code, title, body in PAGE.findall(file.read()):
                if code in pages:
                    problems.append("%s: two pages" % code)
                pages[code] = title, body
    problems += ["%s: no page" % code for code in sorted(rows - set(pages))]
    problems += ["%s: a page for no row" % code for code in sorted(set(pages) - rows)]
    with tempfile.TemporaryDirectory() as folder:
        for code, (title, body) in sorted(pages.items()):
            if len(sys.argv) > 2 and code not in sys.argv[2:]:
                continue
            problems += check_page(tool, folder, code, body)
            done = subprocess.run([tool, "--explain", code], capture_output=True, text=True, timeout=60)
            if done.returncode or not done.stdout.startswith("%s: %s\n" % (code, title)):
                problems.append("%s: --explain ends with %d: %s%s" % (code, done.returncode, done.stdout[:80],
                                                                      done.stderr))
    print("\n".join(problems))
    print("%d pages, %d problems" % (len(pages), len(problems)))
    return bool(problems) or len(pages) < 100


sys.exit(main())
