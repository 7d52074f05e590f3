# RUN: %python %s fsc
"""hostile.py FSC: files that mean no good. Each must end with exit code 1 and an error at a place, soon and in little
memory; those of FINE with code.

The bounds are 2 s and 512 MB a file. A sanitizer build gets 16 times the time, and no memory bound: behind each pass
the debug preset verifies the IR, prints the IR and reads the text back. That is 20 times the work for softmaxes.dsl.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile

HEAD = "@kernel(grid=(1,))\ndef k(x: *fp32, n: i32):\n"
ROW = HEAD + "    i = arange(0, 1024)\n    v = load(x + i)\n"
STORE = "    store(x + i, v)\n"
ADD = "@jit\ndef add(a, b):\n    return a + b\n"


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
    "square.dsl": (HEAD + "    c = zeros((1 << 20, 1 << 20), fp32)\n    store(x + c.to(i32), c)\n",
                   "too large|at most|elements"),
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
    "params.dsl": ("@jit\ndef f(" + ", ".join("p%d" % i for i in range(100000)) + "):\n    pass\n@kernel()\ndef k(n):\n"
                                                                                  "    q = 1 +\n", "end of the line"),
    "dollars.dsl": ("$" * 1000000, "has no meaning here"),
    "backslashes.dsl": ("\\ " * 1000000, "a backslash joins"),
    "dedents.dsl": (HEAD + "        y = 1\n     y = 2\n" * 50000, "matches no line above"),
    "host.py": ("def f():\n" + "    pass\n" * 300000 + "@triton.jit\ndef k(x)\n    pass\n", "':' is missing"),
    "open.py": ("x = (\n" * 100000, "never closed|no kernel|nested brackets"),
    "openlines.py": ("@foo(\n" * 20000, "never closed|no kernel|nested brackets"),
    # What is right as text, and too much for the checker or for one thread.
    "tuple.dsl": (HEAD + "    t = (" + "1, " * 300000 + ")\n", "a tuple of more than 65536 values"),
    "doubled.dsl": (HEAD + "    t = (1,)\n    for i in static_range(64):\n        t = t + t\n",
                    "a tuple of more than 65536 values"),
    "within.dsl": (HEAD + "    t = ()\n    for i in static_range(100000):\n        t = (t, t)\n",
                   "a tuple of more than 65536 values"),
    "times.dsl": (HEAD + "    t = (1,) * 10**9\n    s = 'a' * 10**12\n", "a tuple of more than 65536 values"),
    "text.dsl": (HEAD + "    s = 'a'\n    for i in static_range(64):\n        s = s + s\n",
                 "a string of more than 1048576 bytes"),
    "comprehension.dsl": (HEAD + "    t = [i for i in range(10**9)]\n", "a tuple of more than 65536 values"),
    "filtered.dsl": (HEAD + "    t = [0 for i in range(10**9) if i < 0]\n", "a tuple of more than 65536 values"),
    "squared.dsl": (HEAD + "    t = [0 for i in range(60000) for j in range(60000)]\n", "too large once"),
    "shift.dsl": (HEAD + "    y = 1 << 10**9\n    z = 1 << (1 << 63)\n", "1 << 1000000000 does not fit 64 bits"),
    "powers.dsl": (HEAD + "    y = 10**10**9\n    z = 2**(2**62)\n", r"10 \*\* 1000000000 does not fit 64 bits"),
    "static.dsl": (HEAD + "    for i in static_range(10**18):\n        store(x, 1.0)\n", "too large once"),
    "idle.dsl": (HEAD + "    for i in static_range(10**18):\n        pass\n", "too large once"),
    "library.dsl": (ROW + "    v = " + "sin(" * 900 + "v" + ")" * 900 + "\n" + STORE, "too large once"),
    "wide_library.dsl": (ROW + "    v = v.to(fp64)\n" + "    v = erf(cos(v))\n" * 5000 + STORE, "too large once"),
    "softmaxes.dsl": (ROW + "    v = " + "softmax(" * 900 + "v" + ")" * 900 + "\n" + STORE, "too large once|too long"),
    "sorts.dsl": (ROW + "    v = sort(v)\n" * 200 + STORE, "too large once"),
    "sort.dsl": (HEAD + "    i = arange(0, 1 << 20)\n    store(x + i, sort(load(x + i)))\n", "bytes of shared memory"),
    "topk.dsl": (HEAD + "    i = arange(0, 1 << 20)\n    store(x + i, topk(load(x + i), 1 << 20))\n",
                 "bytes of shared memory"),
    "gather.dsl": (HEAD + "    i = arange(0, 1 << 20)\n    store(x + i, gather(load(x + i), i, 0))\n",
                   "bytes of shared memory"),
    "cumsum.dsl": (HEAD + "    i = arange(0, 1 << 20)\n    store(x + i, cumsum(load(x + i)))\n",
                   "code of one thread becomes too long"),
    "bins.dsl": (ROW + "    h = histogram(v.to(i32), 1 << 21)\n",
                 "a power of two known at compile time, from 1 to 1048576"),
    "combine.dsl": (ADD.replace("a + b", "reduce(full((16,), 1.0), 0, add)") + ROW + "    store(x, reduce(v, 0, "
                                                                                     "add))\n", "'add' calls itself"),
    "combined.dsl": (ADD.replace("a + b", "other(a, b)") + ADD.replace("add", "other").replace("a + b", "add(a, b)") +
                     ROW +
                     "    w = associative_scan(v, 0, add)\n", "calls itself"),
    "reduce.dsl": (ADD + ROW + "    r = reduce((" + "v, " * 5000 + "), 0, add)\n",
                   "'reduce' of 5000 tiles gives it 10000"),
    "reduces.dsl": (ADD + ROW + "    v = v + reduce(v, 0, add)\n" * 20000, "too large once"),
    "rounds.dsl": (HEAD + "    a = rand(n, n, 10**9)\n", "an int from 1 to 100"),
    "prints.dsl": (HEAD + "".join("    device_print('p%d', n)\n" % i for i in range(10000)),
                   "code of (one thread|the kernel) becomes too long"),
    "nul.dsl": (HEAD + "    device_print('a\\0b', n)\n    print('\\x00', n)\n", "a NUL byte in a string"),
    "atomics.dsl": (HEAD + "".join("    atomic_add(x + %d, 1.0)\n" % i for i in range(30000)), "too large once"),
    "arguments.dsl": (HEAD + "    y = max(" + ", ".join(["n"] * 100000) + ")\n", "takes 7 arguments at most"),
    "keywords.dsl": (HEAD + "    y = sum(" + ", ".join("a%d=1" % i for i in range(100000)) + ")\n",
                     "has no argument 'a0'"),
    "message.dsl": (HEAD + "    static_assert(False, '" + "%s%n" * 100000 + "')\n", "static_assert failed: %s%n"),
    "hints.dsl": (HEAD + "    v = multiple_of(n, (" + "16, " * 60000 + "))\n", "'multiple_of' by 60000 values"),
}
# These for the CPU, too: its code has no threads to be too long for.
CPU = ("softmaxes.dsl", "prints.dsl")
# And what is fine, however large: no error, in the same bounds.
FINE = {
    "formats.dsl": HEAD + "    device_print('%s%n%d%*c%%', n)\n    device_print('" + "%s" * 100000 + "', n)\n",
    "many_bins.dsl": "".join((HEAD, "    i = arange(0, 1 << 20)\n    store(x + i, histogram(load(x + i).to(i32), 1 << "
                                    "20))\n")),
    "large_row.dsl": HEAD + "    i = arange(0, 1 << 20)\n    store(x + i, softmax(load(x + i)))\n",
}


def cpu_seconds():
    """Of all children so far: what other processes on the machine do does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def check(fsc, folder, name, contents, wanted, slack, options=("-o", os.devnull)):
    """What is wrong with fsc's answer to one file, as a list of sentences; without `wanted` it must be code."""
    with open(os.path.join(folder, name), "wb") as f:
        f.write(contents if isinstance(contents, bytes) else contents.encode())

    before = cpu_seconds()
    try:
        done = subprocess.run([fsc, name, "--device-debug", *options], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=2 * slack + 8)
    except subprocess.TimeoutExpired:
        return ["still running"]
    seconds = cpu_seconds() - before
    errors = done.stderr.decode(errors="replace")
    problems = []
    if done.returncode != (1 if wanted else 0):
        problems.append("exit code %d" % done.returncode)
    found = re.findall(r"^%s:\d+:\d+: error: (.*)$" % re.escape(name), errors, re.M)
    if not wanted:
        problems += found[:1]
    elif not found:
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
        slack = 16 if b"__asan_init" in f.read() else 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (contents, wanted) in [*FILES.items(), *((name, (text, None)) for name, text in FINE.items())]:
            problems = check(fsc, folder, name, contents, wanted, slack)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            if peak > 512 and slack == 1:
                sys.exit("%s: %.0f MB" % (name, peak))
            if name in CPU:
                problems += check(fsc, folder, name, contents, wanted, slack,
                                  ("--arch=cpu", "--emit=asm", "-o", os.devnull))
            failed += bool(problems)
            for problem in problems:
                print("%s: %s" % (name, problem))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
