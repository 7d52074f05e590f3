# The lines of C in docs/how-to/runtime.md and docs/how-to/embedding.md that are no whole program: each of the former
# is compiled into one that launches a kernel without a mask, and prints what it should; each of the latter is in the
# header that the page's command writes.
# UNSUPPORTED: asan
# RUN: %python %s fsc %libfsc %t
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROGRAM = r"""
#include "fsc.h"
#include <stdio.h>
#include <string.h>
static const char source[] = "@kernel(grid=(1,))\ndef f(x: *fp32):\n"
                             "    i = arange(0, 8)\n    store(x + i, i.to(fp32))\n";
int main(void) {
    _Alignas(16) float x[8] = {0}; /* 4 of them are said to be there */
    fsc_device *d = NULL;
    fsc_jit *j = NULL;
    const fsc_arg args[] = {fsc_pointer(x, sizeof x / 2, FSC_FP32)};
    if (fsc_device_open("emu:1", &d) != FSC_OK) return 2;
    {
FRAGMENT
    }
    fsc_jit_destroy(j);
    fsc_device_close(d);
    return 0;
}
"""
LAUNCH = """if (s == FSC_OK) s = fsc_jit_create(d, source, strlen(source), NULL, &j);
if (s == FSC_OK) s = fsc_jit_launch(j, NULL, args, 1, NULL);
printf("%s\\n", fsc_status_name(s));"""
# What a fragment calls, and what it then prints; None: the page's next block.
WANTED = {"fsc_device_findings": "FSC_ERROR_CHECK\n.*out-of-bounds.*x\\[4\\]",
          "fsc_device_counts": "line 4 ran 2 times\n", "fsc_occupancy": None}


def printed(fragment, library, folder):
    """What a program of these lines prints."""
    path, folder_of = os.path.join(folder, "fragment.c"), os.path.dirname(library)
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM.replace("FRAGMENT",
                                   re.sub(r"/\* … fsc_jit_launch.*?\*/", LAUNCH.replace("\\", r"\\"), fragment)))
    subprocess.run(["cc", "-std=c17", "-Wall", "-Wno-unused", "-Werror", "-I" + os.path.join(ROOT, "compiler"),
                    "-I" + os.path.join(ROOT, "runtime"), path, "-o", path[:-2], "-L" + folder_of, "-lfsc",
                    "-Wl,-rpath," + folder_of], check=True)
    return subprocess.run([path[:-2]], check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout


def check_runtime(library, folder):
    with open(os.path.join(ROOT, "docs", "how-to", "runtime.md"), encoding="utf-8") as file:
        parts = re.findall(r"^```c\n((?!/\*).*?)^```\n(?:```\n(.*?)^```)?", file.read(), re.M | re.S)
    assert len(parts) == len(WANTED), f"{len(parts)} fragments"
    for fragment, shown in parts:
        wanted, = [text or re.escape(shown) for call, text in WANTED.items() if call in fragment]
        got = printed(fragment, library, folder)
        assert wanted and re.search(wanted, got), f"{fragment}prints\n{got}and not {wanted!r}"


def check_embedding(tool, folder):
    with open(os.path.join(ROOT, "docs", "how-to", "embedding.md"), encoding="utf-8") as file:
        page = file.read()
    command, = re.findall(r"^\$ fsc (--emit=object .*)$", page, re.M)
    parts = re.findall(r"^```c\n((?!/\*).*?)^```", page, re.M | re.S)
    words = command.replace("dsl_examples", os.path.join(ROOT, "dsl_examples")).split()
    subprocess.run([tool, *words], cwd=folder, check=True, env=dict(os.environ, FSC_PTXAS="no-such-ptxas"))
    with open(os.path.join(folder, "softmax.h"), encoding="utf-8") as file:
        header = file.read()
    joined = " ".join(header.split())  # the page breaks long lines
    assert parts and all(" ".join(part.split()) in joined for part in parts), f"softmax.h is\n{header}"


def main():
    tool, library, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    check_runtime(library, folder)
    check_embedding(tool, folder)


main()
