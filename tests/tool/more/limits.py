# What has no end, or far too much of something, is refused with a sentence, in little time and memory.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %S/../../Inputs/bounded.py
import os
import subprocess
import sys

TOOL, FOLDER, BOUNDED = sys.argv[1:4]
os.chdir(FOLDER)


def refused(code, sentence, *words, seconds=10, megabytes=400, stdin=None):
    done = subprocess.run([sys.executable, BOUNDED, "1", str(seconds), str(megabytes), TOOL, *words],
                          capture_output=True, text=True, stdin=stdin)
    assert done.returncode == code and sentence in done.stderr, (words, done.returncode, done.stderr[-2000:])


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


# Files without an end.
for command in ([], ["run"], ["info"], ["profile"]):
    refused(1, "goes on beyond 64 MB", *command, "/dev/zero")
refused(1, "goes on beyond 64 MB", "viz", "/dev/zero", "-o", "page.html")
with open("/dev/zero", encoding="utf-8") as zero:
    refused(1, "goes on beyond 64 MB", "-", stdin=zero)
os.symlink("/dev/zero", "zero.npy")
write("a.dsl", "@kernel(grid=(1,))\ndef a(y: *fp32[8]):\n    store(y, load(y))\n")
refused(2, "it is not a .npy file", "run", "a.dsl", "y=zero.npy", "--device=cpu")

# A contract of 10,000 dimensions, 100,000 parameters, 10,000 functions inside each other.
many = ", ".join(["n"] * 10000)
refused(1, "a shape contract of 10000 dimensions; 64 at most",
        write("b.dsl", "@kernel(grid=(1,))\ndef b(x: *fp32[%s], n: i32):\n    store(x, 1.0)\n" % many))
many = ", ".join("p%d: i32" % i for i in range(100000))
refused(1, "a kernel of 100001 parameters; 4096 at most",
        write("c.dsl", "@kernel(grid=(1,))\ndef c(x: *fp32, %s):\n    store(x, 1.0)\n" % many))
nested = "".join("%sdef g%d():\n" % (" " * i, i) for i in range(4000))
for head in ("", "@triton.jit\n"):
    refused(1, "more than 100 levels of indentation",
            write("d.py", "import triton\n" + head + nested + " " * 4000 + "return 1\n"), "--signature=")
few = ", ".join(["1"] * 63)
done = subprocess.run([TOOL, write("e.dsl", "@kernel(grid=(1,))\ndef e(x: *fp32[n, %s], n: i32):\n    store(x, 1.0)\n" %
                                   few), "-o", "e.ptx"])
assert done.returncode == 0

# What a checked and recorded launch keeps of each element.
write("f.dsl", """@kernel(grid=(cdiv(n, 1024),))
def f(y: *i8[n], x: *i8[n], n: i32):
    i = program_id(0) * 1024 + arange(0, 1024)
    store(y + i, load(x + i, mask=i < n), mask=i < n)
""")
refused(3, "bytes for each element that a launch accesses, and this one needs more than 1024 MB", "viz", "f.dsl",
        "x=zeros:i8[16000000]", "y=zeros:i8[16000000]", "-o", "page.html", seconds=60, megabytes=1400)
assert not os.path.exists("page.html")
