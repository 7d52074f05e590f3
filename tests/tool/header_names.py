# Generated headers and objects, whatever kernels, parameters and files are called: they compile as C and C++ beside the
# headers of the C library, link, and run; no name that this machine's C library exports is a kernel's function. PTX
# keeps its form, too.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %S/../.. %fakecuda
import os
import re
import subprocess
import sys

TOOL, FOLDER, ROOT, LIBRARY = sys.argv[1:5]
os.chdir(FOLDER)
BUILD = os.path.dirname(TOOL)
KERNELS = """main printf int exp exp_ a a_object template _start __init NULL bool int32_t fsc_launch fsc_object_launch fsc_object stream status errno EOF
stdin memcpy operator new this K INT_MAX UINT64_C size_t asm typeof inline restrict _Bool complex I unix linux signed environ i386 near __cplusplus
_Atomic alignas thread_local nullptr noreturn strdup index y0 j1 gamma signal time read write abort fsc_stream FSC_OK fsc_status FSC_H stat select
truncl optarg program_invocation_name isnan clog warn softmax _fwd_kernel""".split()
PARAMS = """stream grid values status NULL errno int fsc_stream object k args o x bool uint32_t EOF EOF_ EOF__ stdin signed template FSC_OK this new new_ private
typeof asm linux unix I complex near _x __x v0 float double INT_MAX fsc_object fsc_object_launch size_t st_atime exp N BLOCK y0 time""".split()
HEADERS = """assert complex ctype errno fcntl float inttypes limits locale math setjmp signal stdio stdlib stdnoreturn string strings time unistd pthread
sys/stat sys/select sys/types""".split()
STANDARDS = ["c11", "c17", "gnu17", "c++11", "c++17", "gnu++20"]
NO_CPP = {"complex", "stdnoreturn"}
with open(os.path.join(BUILD, "libfsc-runtime.so"), "rb") as file:
    # as the library, so the program
    SANITIZED = ["-fsanitize=address,undefined"] if b"__asan_init" in file.read() else []


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def make(path, header):
    run(TOOL, path, "--emit=object", "--arch=cpu", "-o", "t.o", "--header=" + header)
    with open(header, encoding="utf-8") as file:
        return file.read()


# 1. Kernels of many names, with one parameter each; the program includes the header first and last,
#    and calls each function.
with open("t.dsl", "w", encoding="utf-8") as file:
    for name in KERNELS:
        file.write("@kernel(grid=(1,))\ndef %s(out: *fp32[4]):\n    store(out + arange(0, 4), %d.0)\n\n\n" %
                   (name, KERNELS.index(name)))
text = make("t.dsl", "t.h")
found = re.findall(r"fsc_status (\w+)\(.*\n.*fsc_object (\w+);", text)
assert [symbol for _, symbol in found] == [name + "_object" for name in KERNELS], found
functions = [function for function, _ in found]
assert len(set(functions)) == len(functions) and {"softmax", "_fwd_kernel", "a", "K", "near",
                                                  "status"} <= set(functions), functions
calls = "".join("    if (%s(FSC_STREAM_CPU, q) != FSC_OK || q[3] != %d.0f) return 1 + %d;\n" % (f, i, i)
                for i, f in enumerate(functions))
for standard in STANDARDS:
    cpp = "++" in standard
    source = "u.cpp" if cpp else "u.c"
    includes = "".join("#include <%s.h>\n" % name for name in HEADERS if not (cpp and name in NO_CPP))
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "t.h"\n%s#undef main\n#include "t.h"\nint main(void) {\n    float q[4] = {0};\n%s    '
                   'return 0;\n}\n' % (includes, calls))
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-D_GNU_SOURCE",
                "-std=" + standard]
    run("c++" if cpp else "cc", *warnings, "-I" + os.path.join(ROOT, "runtime"), source, "t.o", "-L" + BUILD,
        "-lfsc-runtime", "-Wl,-rpath," + BUILD, "-lm", *SANITIZED, "-o", "t.x")
    run("./t.x")

# 2. Parameters of many names, in the header and in the C file, which has definitions.
with open("p.dsl", "w", encoding="utf-8") as file:
    file.write("@kernel(grid=(1,))\ndef p(y: *fp32[4], %s):\n    store(y + arange(0, 4), (%s).to(fp32))\n" %
               (", ".join(name + ": i32" for name in PARAMS), " + ".join(PARAMS)))
text = make("p.dsl", "p.h")
names = re.findall(r"int32_t (\w+)", re.search(r"fsc_status p\(.*", text)[0])
assert len(names) == len(set(names)) == len(PARAMS) and "x" in names and "N" in names, names
run(TOOL, "p.dsl", "--emit=c", "--arch=sm_80", "-o", "p.c")
for standard in STANDARDS:
    cpp = "++" in standard
    includes = "".join("#include <%s.h>\n" % name for name in HEADERS if not (cpp and name in NO_CPP))
    source = "v.cpp" if cpp else "v.c"
    with open(source, "w", encoding="utf-8") as file:
        file.write(includes + '#include "p.h"\n#include "p.c"\n')
    run("c++" if cpp else "cc", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-std=" + standard,
        "-I" + os.path.join(ROOT, "runtime"), "-I.", "-c", source, "-o", "v.o")

# 3. Whatever the C library exports here is no kernel's function.
with open(os.path.join(ROOT, "compiler", "tool", "compile", "cname.def"), encoding="utf-8") as file:
    rows = {macro: re.findall(r'"([^"]+)"', " ".join(re.findall(r"^%s\((.*)\)$" % macro, text, re.M)))
            for text in [file.read()] for macro in ("CWORDS", "CFUNCTIONS", "CMATHS", "CPREFIXES")}
listed = set(rows["CWORDS"]) | set(rows["CFUNCTIONS"]) | {m + e for m in rows["CMATHS"]
                                                          for e in ("", "f", "l", "f32", "f64", "f32x", "f64x", "f128")}
for library in ("libc.so.6", "libm.so.6"):
    for line in run("nm", "-D", "--defined-only", run("cc", "-print-file-name=" + library).strip()).splitlines():
        name, _, version = line.split()[-1].partition("@@")
        by_rule = (re.match(r"[A-Z][A-Z0-9_]+$|fsc_|FSC_|Fsc|_[A-Z_]|.*_t$", name) or
                   name.startswith(tuple(rows["CPREFIXES"])))
        assert not version or version == "GLIBC_PRIVATE" or by_rule or name in listed, "kernels may be called %s" % name

# 4. Files of strange names: the header's comment goes on to its end, PTX has its lines and its form.
for name in ("a*/int b;/*c", 'quote".dsl', "line\nline.dsl", "back\\slash\\.dsl", "bell\a.dsl", "ä.dsl"):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w", encoding="utf-8") as file:
        file.write("@kernel(grid=(1,))\ndef k(out: *fp32[4]):\n    store(out + arange(0, 4), 1.0)\n")
    text = make(name, "f.h")
    run("cc", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(ROOT, "runtime"), "-fsyntax-only", "-x", "c", "f.h")
    lines = run(TOOL, "run", "--coverage", "--device=emu", name, "out=zeros:fp32[4]")
    assert re.search(r"^ +1 \| +3 ", lines, re.M), lines
    for more in ([], ["-g"]):
        ptx = run(TOOL, name, "-o", "-", *more)
        files = re.findall(r"^\s*\.file\b.*$", ptx, re.M)
        assert files and all(re.fullmatch(r'\s*\.file\s+1 "[^"\\\x00-\x1f]*"', line) for line in files), files
        if os.environ.get("FSC_PTXAS"):
            run(TOOL, name, "--emit=cubin", "-o", "f.cubin", *more)
