# What Compiler Explorer asks of a compiler: a source from standard input or a file, the result on standard output, no
# file left behind, lines of the source to be told from the output, exit codes, a version on one line, and messages
# that name line and column.
# RUN: %python %s fsc %t
import os
import re
import shutil
import subprocess
import sys

TOOL, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
SOURCE = '''@kernel(grid=(1,))
def k(y: *fp32[1024], x: *fp32[1024]):
    i = arange(0, 1024)
    v = load(x + i)
    store(y + i, exp(v))
'''


def run(*words, text=None):
    return subprocess.run([TOOL, *words], input=text, cwd=FOLDER, capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, HOME=FOLDER, TMPDIR=FOLDER, NO_COLOR="1"))


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)

version = run("--version")
assert version.returncode == 0 and re.match(r"fsc \d+\.\d+\.\d+ \(LLVM \d+\.\d+\.\d+\)\n$", version.stdout), version

plain = run("-", "-o", "-", text=SOURCE)
assert plain.returncode == 0 and "fsc_record_k" in plain.stdout, plain
for words, text in (("-",), SOURCE), (("-", "-o", "-", "--arch=sm_90"), SOURCE), (("-", "-o", "-", "-g"), SOURCE):
    done = run(*words, "--readable", text=text)
    assert done.returncode == 0 and not done.stderr, done
    assert "fsc_record" not in done.stdout and "inline asm" not in done.stdout, done.stdout
    # Every line of code of the source is there once as a comment before its code, and .loc says which line that is.
    lines = re.findall(r"\t// (.*)\n\t\.loc\t1 (\d+) ", done.stdout)
    assert lines and all(SOURCE.split("\n")[int(n) - 1].strip() == said for said, n in lines), lines
    assert {"v = load(x + i)", "store(y + i, exp(v))"} <= {said for said, _ in lines}, lines
    assert re.search(r'\.file\t1 ".*<stdin>"', done.stdout), done.stdout
    code = [line for line in done.stdout.split("\n") if re.match(r"\t(@%p\d+ )?[a-z]", line)]
    assert [line for line in run(*words, text=text).stdout.split("\n") if re.match(r"\t(@%p\d+ )?[a-z]", line)] == code

for emit in ("ast", "tile", "simt", "threads", "llvm", "ptx", "asm", "report"):
    done = run("-", "-o", "-", "--emit=" + emit, *(["--arch=cpu"] if emit == "asm" else []), text=SOURCE)
    assert done.returncode == 0 and done.stdout and not done.stderr, (emit, done)

wrong = run("-", "-o", "-", text=SOURCE.replace("load", "lod"))
assert wrong.returncode == 1 and wrong.stdout == "" and wrong.stderr.startswith("<stdin>:4:9: error: "), wrong
assert run("-", "-o", "-", "--arch=sm_12", text=SOURCE).returncode == 2
assert run("--nonsense", text=SOURCE).returncode == 2
assert run("-", "--readable", "--emit=tile", text=SOURCE).returncode == 2
assert os.listdir(FOLDER) == [], os.listdir(FOLDER)

# A file, and the assembler takes what is read.
with open(os.path.join(FOLDER, "k.dsl"), "w", encoding="utf-8") as file:
    file.write(SOURCE)
done = run("k.dsl", "-o", "k.ptx", "--readable")
assert done.returncode == 0 and sorted(os.listdir(FOLDER)) == ["k.dsl", "k.ptx"], os.listdir(FOLDER)
ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
if os.path.exists(ptxas):
    subprocess.run([ptxas, "-arch=sm_80", "k.ptx", "-o", os.devnull], cwd=FOLDER, check=True, timeout=60)

# fsc help COMMAND is its --help.
assert run("help", "run").stdout == run("run", "--help").stdout and run("help").stdout == run("--help").stdout
lost = run("help", "rnu")
assert lost.returncode == 2 and "did you mean 'fsc help run'" in lost.stderr, lost
