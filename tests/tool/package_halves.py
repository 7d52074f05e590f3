# Pointers to floats of 16 and 8 bits in a generated header: void in C, in C++ types of their own, which do not pass for
# each other; CUDA's where its headers came first; the user's where a macro says so.
# RUN: rm -rf %t && mkdir %t && %python %s fsc %t
import os
import shutil
import subprocess
import sys

TOOL, FOLDER, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.join(os.path.dirname(__file__), "..", "..")
HEADERS = os.path.abspath(os.path.join(ROOT, "runtime"))
os.chdir(FOLDER)
TYPES = ("fp16", "bf16", "fp8e4nv", "fp8e5")
with open("k.dsl", "w", encoding="utf-8") as file:
    file.write("@kernel(grid=(1,))\ndef halves(%s, n: i32):\n    i = arange(0, 16)\n" % ", ".join(
        "%s: *%s" % (name, dtype) for name, dtype in zip("abcd", TYPES)))
    file.write("".join("    store(%s + i, load(%s + i, mask=i < n), mask=i < n)\n" % (name, name) for name in "abcd"))
subprocess.run([TOOL, "k.dsl", "--emit=c", "--arch=sm_90", "-o", "k.c", "--header=k.h"], check=True, timeout=60)


def compiles(language, text, fails=""):
    compiler = shutil.which("c++" if language == "c++" else "cc")
    if not compiler:
        return
    standard = "-std=c++17" if language == "c++" else "-std=c11"
    done = subprocess.run([compiler, "-x", language, standard, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                           "-I", HEADERS, "-I", ".", "-"], input=text, capture_output=True, text=True, timeout=60)
    assert (done.returncode != 0) == bool(fails) and fails in done.stderr, (text, done.stderr)


CALL = "fsc_status call(%s *a, %s *b, %s *c, %s *d) { return halves(0, a, b, c, d, 9); }\n"
PROTOTYPE = "fsc_status call(%s *a, %s *b, %s *c, %s *d);\n" + CALL
compiles("c", '#include "k.h"\n' + PROTOTYPE % (("void",) * 8))
compiles("c", '#include "k.h"\n' + PROTOTYPE % (("unsigned short",) * 8))
OWN = tuple("fsc::" + name for name in TYPES)
compiles("c++", '#include "k.h"\n' + CALL % OWN)
compiles("c++", '#include "k.h"\n' + CALL % (OWN[1], OWN[0], OWN[2], OWN[3]), fails="fsc::bf16")
compiles("c++", '#include "k.h"\n' + CALL % (("void",) * 4), fails="void*")
CUDA = ("__half", "__nv_bfloat16", "__nv_fp8_e4m3", "__nv_fp8_e5m2")
compiles("c++", "".join("struct %s {};\n" % name for name in CUDA) + "#define __CUDA_FP16_H__\n#define __CUDA_BF16_H__\n"
         '#define __CUDA_FP8_H__\n#include "k.h"\n' + CALL % CUDA)
compiles("c++", 'struct mine {};\n#define FSC_TYPE_FP16 mine\n#include "k.h"\n' + CALL % ("mine", *OWN[1:]))
for language in ("c", "c++"):  # and the code itself
    with open("k.c", encoding="utf-8") as file:
        compiles(language, file.read())
