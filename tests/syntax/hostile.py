# RUN: %python %s fsc
"""hostile.py FSC: files that mean no good. Each must end with exit code 1 and an error at a place, soon and in little memory.

The bounds are 2 s and 512 MB a file; a sanitizer build gets 8 times the time, and no memory bound.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile

HEAD = "@kernel(grid=(1,))\ndef k(x: *fp32, n: i32):\n"


def nested_blocks(count):
    lines = ["%sif n > %d:" % (" " * (i + 1), i) for i in range(count)]
    return HEAD + "\n".join(lines) + "\n" + " " * (count + 1) + "pass\n"


def elifs(count):
    return HEAD + "  if n == 0:\n    pass\n" + "".join("  elif n == %d:\n    pass\n" % i for i in range(1, count))


# File name: contents, and what the error must say.
FILES = {
    "binary.dsl": (bytes(range(256)) * 4096, "control character|NUL byte"),
    "elf.dsl": (b"\x7fELF\x02\x01\x01" + b"\0" * 100000, "control character|NUL byte"),
    "zeros.dsl": (b"\0" * 1000000, "NUL byte"),
    "high.dsl": (b"\xff\xfe" * 100000, "not valid UTF-8"),
    "empty.dsl": (b"", "no kernel"),
    "blank.dsl": (b"\n" * 1000000, "no kernel"),
    "comment.dsl": (b"# nothing\n" * 100000, "no kernel"),
    "empty.py": (b"", "no kernel"),
    "blocks.dsl": (nested_blocks(3000), "more than 100 levels of indentation"),
    "parens.dsl": (HEAD + "    y = " + "(" * 100000 + "\n", "more than 1000 nested brackets"),
    "closed.dsl": (HEAD + "    y = " + "(" * 100000 + "1" + ")" * 100000 + "\n", "more than 1000 nested brackets"),
    "squares.py": ("x = " + "[" * 100000 + "\n", "nested brackets|is never closed|no kernel"),
    "mixed.dsl": (HEAD + "    y = " + "([{" * 30000 + "\n", "more than 1000 nested brackets"),
    "sum.dsl": (HEAD + "    y = " + "+".join(["1"] * 1000000) + "\n", "nested more than 4096 deep"),
    "names.dsl": (HEAD + "    y = " + "+".join(["n"] * 1000000) + "\n", "nested more than 4096 deep"),
    "minus.dsl": (HEAD + "    y = " + "-" * 1000000 + "n\n", "nested too deeply|nested more than 4096 deep"),
    "not.dsl": (HEAD + "    y = " + "not " * 1000000 + "n\n", "nested too deeply|nested more than 4096 deep"),
    "power.dsl": (HEAD + "    y = " + "**".join(["n"] * 300000) + "\n", "nested too deeply|nested more than 4096 deep"),
    "choice.dsl": (HEAD + "    y = " + "1 if n else " * 300000 + "2\n", "nested too deeply|nested more than 4096 deep"),
    "lambda.dsl": (HEAD + "    y = " + "lambda: " * 300000 + "2\n", "nested too deeply|nested more than 4096 deep"),
    "attributes.dsl": (HEAD + "    y = n" + ".a" * 300000 + "\n", "nested more than 4096 deep"),
    "compare.dsl": (HEAD + "    y = " + " < ".join(["n"] * 30000) + "\n    z = )\n", "closes nothing"),
    "strings.dsl": (HEAD + "    y = " + "'a' " * 100000 + ")\n", "closes nothing"),
    "assigns.dsl": (HEAD + "    " + "y = " * 300000 + ")\n", "closes nothing"),
    "tile.dsl": (HEAD + "    c = arange(0, 1 << 31)\n    store(x + c, 0.0)\n", "too large|at most|2147483648"),
    "square.dsl": (HEAD + "    c = zeros((1 << 20, 1 << 20), fp32)\n    store(x + c.to(i32), c)\n", "too large|at most|elements"),
    "quote.dsl": (HEAD + "    y = 'never closed\n", "not closed"),
    "quotes.dsl": ("'\n" * 100000, "not closed"),
    "triple.dsl": (HEAD + '    """never closed\n' * 100001, "not closed"),
    "tabs.dsl": (HEAD + "\tif n > 0:\n        n = 1\n\t\tn = 2\n", "tabs and spaces are mixed"),
    "alltabs.dsl": (HEAD + "\ty = 1\n    z = 2\n" * 100000, "tabs and spaces are mixed"),
    "line.dsl": (HEAD + "    y = (" + "n, " * 700000 + ") +\n", "end of the line"),
    "token.dsl": (HEAD + "    " + "y" * 2000000 + "\n", "y"),
    "digits.dsl": (HEAD + "    y = " + "9" * 2000000 + "\n", "does not fit 64 bits"),
    "elif.dsl": (elifs(100000), "nested more than 4096 deep|nested too deeply"),
    "semicolons.dsl": (HEAD + "    " + "y = 1; " * 100000 + ")\n", "closes nothing"),
    "statements.dsl": (HEAD + "    y = n +\n" * 100000, "end of the line"),
    "decorators.dsl": ("@jit\n" * 100000 + "def f(:\n    pass\n", "expected|cannot stand|closed"),
    "params.dsl": ("@jit\ndef f(" + ", ".join("p%d" % i for i in range(100000)) + "):\n    pass\n@kernel()\ndef k(n):\n    q = 1 +\n", "end of the line"),
    "dollars.dsl": ("$" * 1000000, "has no meaning here"),
    "backslashes.dsl": ("\\ " * 1000000, "a backslash joins"),
    "dedents.dsl": (HEAD + "        y = 1\n     y = 2\n" * 50000, "matches no line above"),
    "host.py": ("def f():\n" + "    pass\n" * 300000 + "@triton.jit\ndef k(x)\n    pass\n", "':' is missing"),
    "open.py": ("x = (\n" * 100000, "never closed|no kernel|nested brackets"),
    "openlines.py": ("@foo(\n" * 20000, "never closed|no kernel|nested brackets"),
}


def cpu_seconds():
    """Of all children so far: what other processes on the machine do does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def check(fsc, folder, name, contents, wanted, slack):
    """What is wrong with fsc's answer to one file, as a list of sentences."""
    with open(os.path.join(folder, name), "wb") as f:
        f.write(contents if isinstance(contents, bytes) else contents.encode())

    before = cpu_seconds()
    try:
        done = subprocess.run([fsc, name, "-o", "-"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=2 * slack + 8)
    except subprocess.TimeoutExpired:
        return ["still running"]
    seconds = cpu_seconds() - before
    errors = done.stderr.decode(errors="replace")
    problems = []
    if done.returncode != 1:
        problems.append("exit code %d" % done.returncode)
    found = re.findall(r"^%s:\d+:\d+: error: (.*)$" % re.escape(name), errors, re.M)
    if not found:
        problems.append("no error at a place")
    elif not any(re.search(wanted, error) for error in found):
        problems.append("the first error says: %.200s" % found[0])
    if errors.count(" error: ") > 20 or len(errors) > 40000:
        problems.append("%d bytes of messages" % len(errors))
    if seconds > 2 * slack:
        problems.append("%.1f s" % seconds)
    if os.environ.get("HOSTILE_VERBOSE"):
        print("%-16s %5.2f s  %s" % (name, seconds, errors.split("\n")[0][:110]))
    return problems + (["messages: %.300s" % errors] if problems else [])


def main():
    fsc = os.path.abspath(sys.argv[1])
    with open(fsc, "rb") as f:
        slack = 8 if b"__asan_init" in f.read() else 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (contents, wanted) in FILES.items():
            problems = check(fsc, folder, name, contents, wanted, slack)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            if peak > 512 and slack == 1:
                sys.exit("%s: %.0f MB" % (name, peak))
            failed += bool(problems)
            for problem in problems:
                print("%s: %s" % (name, problem))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
