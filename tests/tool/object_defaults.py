# Objects of kernels whose launch rule chooses between two ways: parameters of the way not taken have their defaults, so
# the rule agrees with what was compiled, and the object's code runs.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %S/../..
import os
import subprocess
import sys

TOOL, FOLDER, ROOT = sys.argv[1:4]
os.chdir(FOLDER)
BUILD = os.path.dirname(TOOL)
with open(os.path.join(BUILD, "libfsc-runtime.so"), "rb") as file:
    # as the library, so the program
    SANITIZED = ["-fsanitize=address,undefined"] if b"__asan_init" in file.read() else []
PROGRAM = """
#include <stdio.h>
#include "t.h"
#define ROWS 3
static float x[ROWS * N], y[ROWS * N], w[N], b[N], mean[ROWS], rstd[ROWS];
int main(void) {
    for (int i = 0; i < ROWS * N; i++) x[i] = (float)(i % 7);
    for (int i = 0; i < N; i++) w[i] = 1, b[i] = 2;
    fsc_status s = layernorm(FSC_STREAM_CPU, y, mean, rstd, x, w, b, N, N, ROWS, N, 1e-5f);
    float want = (x[1] - mean[0]) * rstd[0] + 2;
    if (s != FSC_OK || y[1] - want > 1e-5f || want - y[1] > 1e-5f || mean[0] < 2.9f || mean[0] > 3.1f)
        return printf("%d columns: status %d, %g, not %g, mean %g\\n", N, (int)s, y[1], want, mean[0]), 1;
    return 0;
}
"""


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (words, done.stdout, done.stderr)


run(TOOL, os.path.join(ROOT, "dsl_examples", "layernorm.dsl"), "--emit=object", "--arch=cpu",
    "--variants=BLOCK=512..8192", "-o", "t.o", "--header=t.h")
with open("t.c", "w", encoding="utf-8") as file:
    file.write(PROGRAM)
for n in (300, 2049, 5001):
    run("cc", "-Wall", "-Wextra", "-Werror", "-DN=%d" % n, "-I" + os.path.join(ROOT, "runtime"), "t.c", "t.o",
        "-L" + BUILD, "-lfsc-runtime", "-Wl,-rpath," + BUILD, *SANITIZED, "-o", "t.x")
    run("./t.x")
