# Results that a full disk does not take: exit status 3 and a sentence, whichever command prints them.
# A mistake keeps its status.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %examples
import os
import subprocess
import sys

TOOL, FOLDER, EXAMPLES = sys.argv[1:4]
SOFTMAX, X, Y = os.path.join(EXAMPLES, "softmax.dsl"), "x=random:0:fp32[4,4]", "y=zeros:fp32[4,4]"
CALLS = [
    [SOFTMAX, "-o", "-"],
    [SOFTMAX, "-o", "/dev/stdout"],
    [SOFTMAX, "-o", "/dev/full"],
    [SOFTMAX, "--emit=tile"],
    ["--help"],
    ["--version"],
    ["--list-builtins"],
    ["--explain=E0201"],
    ["--completion=bash"],
    ["--man=fsc"],
    ["devices"],
    ["devices", "--json"],
    ["cache", "list", "--json"],
    ["cache", "stat"],
    ["info", SOFTMAX, "--gpu=a100"],
    ["info", SOFTMAX, "--gpu=a100", "--json"],
    ["viz", SOFTMAX, X, Y, "-o", "-"],
    ["viz", SOFTMAX, X, Y, "-o", os.path.join(FOLDER, "page.html")],
]
for json in ([], ["--json"]):
    CALLS.append(["run", SOFTMAX, X, Y, "--device=cpu", *json])
    CALLS.append(["run", SOFTMAX, X, Y, "--coverage", *json])
    CALLS.append(["profile", SOFTMAX, X, Y, *json])
    CALLS.append(["bench", SOFTMAX, "--axis", "n_cols=64..128:64", "n_rows=4", "--device=cpu", "--repeat=1", *json])


def call(words):
    environment = dict(os.environ, FSC_CACHE_DIR=os.path.join(FOLDER, "cache"))
    with open("/dev/full", "w", encoding="utf-8") as full:
        return subprocess.run([TOOL, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
                              env=environment)


for words in CALLS:
    done = call(words)
    assert done.returncode == 3 and "cannot write" in done.stderr, (words, done.returncode, done.stderr)
done = call(["info", SOFTMAX, "--gpu=none"])
assert done.returncode == 2, done
