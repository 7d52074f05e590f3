# Typical mistakes, each with the whole text that fsc prints: one error, that names what was found and what to write.
# Inputs/mistakes.txt has a case behind each `==== title`: a file, or the body of a kernel; behind `----` the text.
# `mistakes.py FSC --bless` writes the texts anew: read the diff. Where a fix is proposed, `--fix` removes the error.
# RUN: %python %s fsc
import json
import os
import re
import subprocess
import sys
import tempfile

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "mistakes.txt")
HEAD = "@kernel(grid=(1,))\ndef k(x: *fp32, y: *fp32, n: i32, B: constexpr = 128):\n    v = load(x + arange(0, B))\n"
CASE = re.compile(r"^==== ([^\n]*)\n(.*?)^----\n(.*?)(?=^==== |\Z)", re.M | re.S)
FIXED = 20  # cases with a fix, at least


def compile_in(folder, tool, name, *options):
    done = subprocess.run([tool, name, "-o", "/dev/null", "--color=never", *options], cwd=folder, capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stderr


def source(body):
    return body if re.search(r"^def ", body, re.M) else HEAD + re.sub(r"^(?=.)", "    ", body, flags=re.M)


def play(folder, tool, title, body):
    """(what fsc prints, problems, whether a fix was made)"""
    name = "k.py" if "import triton" in body else "k.dsl"
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(source(body))
    status, text = compile_in(folder, tool, name)
    problems = [] if status == 1 else ["%s: exit status %d" % (title, status)]
    errors = len(re.findall(r"^\S+: error: ", text, re.M))
    if errors != 1:
        problems.append("%s: %d errors\n%s" % (title, errors, text))
    first = json.loads(compile_in(folder, tool, name, "--diagnostics-format=json")[1])["diagnostics"][:1]
    fixes = [m for d in first for m in [d] + d["notes"] if "fix" in m]
    if fixes:
        status, after = compile_in(folder, tool, name, "--fix")
        if status:
            problems.append("%s: --fix leaves\n%s" % (title, after))
    return re.sub(r"^fsc --explain .*\n", "", text, flags=re.M), problems, bool(fixes)


def main():
    tool, bless = os.path.abspath(sys.argv[1]), "--bless" in sys.argv
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    cases, problems, new, fixed = CASE.findall(text), [], "", 0
    with tempfile.TemporaryDirectory() as folder:
        for title, body, expected in cases:
            printed, found, has_fix = play(folder, tool, title, body)
            problems += found
            fixed += has_fix
            if printed != expected and not bless:
                problems.append("%s: expected\n%sfound\n%s" % (title, expected, printed))
            new += "==== %s\n%s----\n%s" % (title, body, printed)
    if bless:
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write(new)
    print("\n".join(problems))
    print("%d mistakes, %d with a fix, %d problems" % (len(cases), fixed, len(problems)))
    return bool(problems) or len(cases) < 60 or fixed < FIXED


sys.exit(main())
