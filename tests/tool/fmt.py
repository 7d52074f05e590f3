# `fsc fmt`: the examples are formatted; what it writes it leaves alone, and it compiles to the same IR; comments stay.
# So do files whose blanks were thrown about, and random kernels.
# RUN: %python %s fsc %t
import glob
import io
import os
import random
import shutil
import subprocess
import sys
import tokenize

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "random"))
TOOL, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
GAPS = {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def run(*words, text=None):
    return subprocess.run([TOOL, *words], input=text, capture_output=True, text=True, timeout=60)


def formatted(text):
    done = run("fmt", "-", text=text)
    assert done.returncode == 0 and not done.stderr, done.stderr
    again = run("fmt", "-", text=done.stdout)
    assert again.stdout == done.stdout, "formatted twice it differs:\n" + done.stdout
    assert comments(done.stdout) == comments(text)
    return done.stdout


def comments(text):
    return [t.string.rstrip() for t in tokens(text) if t.type == tokenize.COMMENT]


def tokens(text):
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def thrown_about(text, rng):
    """The same tokens with other blanks between them, other indentation, and blank lines."""
    out, row, step = [], 0, rng.choice([1, 2, 3, 8])
    lines = text.split("\n")
    for t in tokens(text):
        if t.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if t.start[0] != row:
            row = t.start[0]
            before = lines[row - 1][:len(lines[row - 1]) - len(lines[row - 1].lstrip())]
            out.append(" " * (len(before) // 4 * step + len(before) % 4))
        elif t.type not in GAPS:
            had_blank = lines[row - 1][t.start[1] - 1:t.start[1]] == " "
            out.append(" " * rng.choice([1, 1, 2, 3] if had_blank else [0, 0, 1, 2]))
        elif t.type == tokenize.COMMENT:
            out.append(" " * rng.choice([0, 1, 4]))
        out.append(t.string)
        if t.type in (tokenize.NEWLINE, tokenize.NL) and rng.random() < 0.1:
            out.append("\n" * rng.choice([1, 5]) if not lines[row].startswith((" ", "@", "#")) else "")
        row += t.string.count("\n") if t.type == tokenize.STRING else 0
    return "".join(out)


def ir(text, name):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = run("--emit=tile", path, "-o", "-")
    assert done.returncode == 0, done.stderr
    return done.stdout


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
rng = random.Random(5)
examples = sorted(glob.glob(os.path.join(ROOT, "dsl_examples", "*.dsl")))
assert len(examples) > 40
done = run("fmt", "--check", *examples, *glob.glob(os.path.join(ROOT, "compiler", "check", "lib", "*.dsl")))
assert (done.returncode, done.stdout) == (0, ""), done
for path in examples:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert formatted(text) == text, path
    for turn in range(2):
        other = thrown_about(text, rng)
        assert other != text
        assert ir(formatted(other), "other.dsl") == ir(text, "other.dsl"), path

from generate import make  # noqa: E402  (the folder of random kernels is found by now)

for seed in range(12):
    text = make(seed, ("int", "float")[seed % 2]).emit()
    assert ir(formatted(text), "random.dsl") == ir(text, "random.dsl"), text
    assert ir(formatted(thrown_about(text, rng)), "random.dsl") == ir(text, "random.dsl"), text

# Forms that are told apart by what stands around them; what is in brackets stays below what it stood below.
for before, after in [
    ("x=-1\n", "x = -1\n"), ("x = a if b else-1\n", None),
    ("@kernel( grid = ( 1 , ) )\ndef k( x:*fp32 , B :constexpr=128,c=1 ):\n  store( x,- 1.0)#c\n",
     "@kernel(grid=(1,))\ndef k(x: *fp32, B: constexpr = 128, c=1):\n    store(x, -1.0)  #c\n"),
    ("@jit\ndef f(x: *T[n:s,m],T:dtype):\n\tif x[ : ,None]:\n\t\treturn x[None,:]\n\t# end\n\n\n\n\n\n# last\n",
     "@jit\ndef f(x: *T[n:s, m], T: dtype):\n    if x[:, None]:\n        return x[None, :]\n    # end\n\n\n# last\n"),
    ("@jit\ndef f(a,\n    b):\n    return (a+\n  b)\n", "@jit\ndef f(a,\n      b):\n    return (a +\n            b)\n"),
    ("@jit\ndef f(\n  a,\n  b,\n):\n    return a** b\n", "@jit\ndef f(\n    a,\n    b,\n):\n    return a ** b\n"),
    ("@jit\ndef f(a):\n    b=a+\\\n  1;c = not(a)\n    return a@b\n",
     "@jit\ndef f(a):\n    b = a + \\\n        1; c = not (a)\n    return a @ b\n"),
    ('@jit\ndef f(a):\n    """text\n  stays"""\n    return  a.to( fp32 )[ : ]\n',
     '@jit\ndef f(a):\n    """text\n  stays"""\n    return a.to(fp32)[:]\n'),
    ("@jit\r\ndef f(a):\r\n    return a\r\n", "@jit\ndef f(a):\n    return a\n"),
]:
    if after:
        assert formatted(before) == after, formatted(before)

# Files: written back where that changes them; --check names them; a mistake leaves a file as it is.
path = os.path.join(FOLDER, "a.dsl")
for text, check, status, left in [("x=1\n", path + "\n", 1, "x = 1\n"), ("x = 1\n", "", 0, "x = 1\n"),
                                  ("x = (\n", "", 1, "x = (\n")]:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = run("fmt", "--check", path)
    assert (done.returncode, done.stdout) == (status, check), done
    done = run("fmt", path)
    assert done.returncode == (1 if left == "x = (\n" else 0) and bool(done.stderr) == (left == "x = (\n"), done
    with open(path, encoding="utf-8") as file:
        assert file.read() == left
assert run("fmt", "a.py").returncode == 2 and run("fmt").returncode == 2
print("ok")
