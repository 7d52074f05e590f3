# What is written takes the place of no input, of no other output and of no read-only file; links stay; nobody can
# foresee a temporary name, and a signal leaves none; devices, pipes and standard output by any name are written as they
# are.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %examples
import os
import resource
import shutil
import signal
import subprocess
import sys

TOOL, FOLDER, EXAMPLES = sys.argv[1:4]
os.chdir(FOLDER)
SOURCE = ("@kernel(grid=(1,))\ndef one(y: *fp32[8], x: *fp32[8]):\n    i = arange(0, 8)\n    store(y + i, load(x + i) "
          "+ 1.0)\n")
X, Y = "x=random:0:fp32[8]", "y=zeros:fp32[8]"


def write(name, text=SOURCE):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def read(name):
    with open(name, "rb") as file:
        return file.read()


def call(*words, **more):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=120, **more)


def expect(code, sentence, *words, **more):
    done = call(*words, **more)
    assert (done.returncode, sentence in done.stderr) == (code, True), (words, done.returncode, done.stderr)
    left = [name for name in os.listdir(".") if name.startswith(".fsc")]
    assert not left, (words, left)
    return done


# 1. The source, by its name, another way to it, a link, a second name, standard input.
write("a.dsl")
os.symlink("a.dsl", "to_a")
os.link("a.dsl", "second")
LOST = "would overwrite"
for name in ("a.dsl", "./a.dsl", os.path.abspath("a.dsl"), "../" + os.path.basename(FOLDER) + "/a.dsl", "to_a",
             "second"):
    expect(2, LOST, "a.dsl", "-o", name)
    expect(2, LOST, "a.dsl", "--emit=object", "--arch=cpu", "-o", "a.o", "--header", name)
    expect(2, LOST, "a.dsl", "-o", "a.ptx", "-MD", "-MF", name)
    expect(2, LOST, "viz", "a.dsl", X, Y, "-o", name)
    expect(2, LOST, "bench", "a.dsl", "--axis", "N=8", "x=random:0:fp32[N]", "--device=cpu", "--repeat=1", "--svg",
           name)
with open("a.dsl", encoding="utf-8") as file:
    expect(2, LOST, "-", "-o", "a.dsl", stdin=file)
with open("a.dsl", encoding="utf-8") as file, open("a.dsl", "a", encoding="utf-8") as out:
    done = subprocess.run([TOOL, "-", "-o", "-"], stdin=file, stdout=out, stderr=subprocess.PIPE, text=True,
                          timeout=120)
    assert done.returncode == 2 and LOST in done.stderr, done
shutil.copy("a.dsl", "named.ptx")
expect(2, LOST, "named.ptx")  # the output's name comes from the file's
assert read("a.dsl") == read("named.ptx") == SOURCE.encode() and not os.path.exists("a.o") and not os.path.exists("a.ptx")

# 2. Two outputs in one file, there or not.
for name in ("same", "./same", os.path.abspath("same")):
    expect(2, "one file", "a.dsl", "--emit=object", "--arch=cpu", "-o", "same", "--header", name)
    expect(2, "one file", "a.dsl", "-o", "same", "-MD", "-MF", name)
os.symlink("same", "to_same")
expect(2, "one file", "a.dsl", "--emit=object", "--arch=cpu", "-o", "same", "--header=to_same")
assert not os.path.exists("same")

# 3. Arrays: one that is read and written back is its word's; another word's, or another output's, it is not.
RUN = ["run", "a.dsl", "--device=cpu", "--repeat=0", "--warmup=0"]
expect(0, "", *RUN, X, "y=y.npy")
before = read("y.npy")
expect(2, LOST, *RUN, "x=y.npy", "y=y.npy")
expect(2, LOST, "viz", "a.dsl", "x=y.npy", Y, "-o", "y.npy")
assert read("y.npy") == before
write("two.dsl", "@kernel(grid=(1,))\ndef two(y: *fp32[8], z: *fp32[8]):\n    i = arange(0, 8)\n    store(y + i, 1.0)\n"
                 "    store(z + i, 2.0)\n")
expect(2, "one file", "run", "two.dsl", "--device=cpu", "y=w.npy", "z=w.npy")
write("more.dsl",
      "@kernel(grid=(1,))\ndef more(y: *fp32[8]):\n    i = arange(0, 8)\n    store(y + i, load(y + i) + 1.0)\n")
expect(0, "", "run", "more.dsl", "--device=cpu", "--repeat=0", "y=y.npy")
assert read("y.npy") != before and len(read("y.npy")) == len(before)

# 4. A read-only file stays; mode and owner of a file that may be written do, too. A folder is none.
write("ro", "keep")
os.chmod("ro", 0o400)
expect(3, "read-only", "a.dsl", "-o", "ro")
assert read("ro") == b"keep"
write("mode", "old")
os.chmod("mode", 0o640)
expect(0, "", "a.dsl", "-o", "mode")
assert b".visible .entry one" in read("mode") and os.stat("mode").st_mode & 0o777 == 0o640
os.mkdir("folder")
expect(2, "directory", "a.dsl", "-o", "folder")
long = "n" * 251 + ".ptx"
expect(0, "", "a.dsl", "-o", long)

# 5. A link stays a link, and what it points to is written, there or not; a circle is refused.
#    What another user has planted in
# a folder that is everybody's is not followed (only root can make such a link here).
write("real", "old")
os.symlink("real", "link")
os.mkdir("deep")
os.symlink("../not_yet", "deep/link")
os.symlink("deep/link", "twice")
os.symlink("circle", "circle")
expect(0, "", "a.dsl", "-o", "link")
expect(0, "", "a.dsl", "-o", "twice")
for name, real in (("link", "real"), ("deep/link", "not_yet"), ("twice", "not_yet")):
    assert os.path.islink(name) and not os.path.islink(real) and b".visible .entry one" in read(real), name
expect(3, "Too many levels", "a.dsl", "-o", "circle")
if os.geteuid() == 0:
    os.mkdir("shared")
    os.chmod("shared", 0o1777)
    write("precious", "precious")
    os.symlink(os.path.abspath("precious"), "shared/out")
    os.lchown("shared/out", 12345, 12345)
    expect(2, "another user's symbolic link", "a.dsl", "-o", "shared/out")
    assert read("precious") == b"precious"

# 6. A temporary name that was foreseen, as it was once: the process's number. Its link is not followed.
write("victim", "precious")
expect(0, "", "a.dsl", "-o", "out.ptx", preexec_fn=lambda: os.symlink("victim", "out.ptx.tmp%d" % os.getpid()))
assert read("victim") == b"precious" and b".visible" in read("out.ptx")

# 7. Signals while a file is written: of a file that grows too large, and of somebody who waits for the temporary file.
old = read("out.ptx")
for handler, code in ((signal.SIG_DFL, -signal.SIGXFSZ), (signal.SIG_IGN, 3)):

    def limited(handler=handler):
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        signal.signal(signal.SIGXFSZ, handler)

    expect(code, "File too large" if code == 3 else "", "a.dsl", "-o", "out.ptx", preexec_fn=limited)
    assert read("out.ptx") == old
write("large.dsl", "@kernel(grid=(1,))\ndef large(y: *i8):\n    store(y, 1)\n")
os.mkdir("large")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    for attempt in range(40):
        words = [TOOL, "run", "large.dsl", "y=large/y.npy:i8[100000000]", "--device=cpu", "--repeat=0"]
        run = subprocess.Popen(words, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        while run.poll() is None and not os.listdir("large"):
            pass
        run.send_signal(number)
        run.wait(60)
        left = os.listdir("large")
        if not left:
            break
        assert left == ["y.npy"], left  # the signal came when all was done
        os.remove("large/y.npy")
    assert run.returncode == -number and not left, (number, run.returncode)
assert not [name for name in os.listdir(".") if name.startswith(".fsc")]

# 8. Devices, pipes and standard output by other names, also where it is a file that others write to as well.
expect(0, "", "a.dsl", "-o", "/dev/null", "-MD", "-MF", "/dev/null")
assert not os.path.islink("/dev/null") and not os.path.isfile("/dev/null")
text = call("a.dsl", "-o", "-").stdout
assert ".visible .entry one" in text and call("a.dsl", "-o", "/dev/stdout").stdout == text
with open("both", "w", encoding="utf-8") as both:
    for word in ("echo first", TOOL + " a.dsl -o /dev/stdout", "echo last"):
        subprocess.run(word.split(), stdout=both, check=True, timeout=120)
assert read("both").decode() == "first\n" + text + "last\n"
os.mkfifo("pipe")
with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
    expect(0, "", "a.dsl", "-o", "pipe")
    assert reader.communicate(timeout=60)[0] == text
ends = os.pipe()
expect(0, "", "a.dsl", "-o", "/dev/fd/%d" % ends[1], pass_fds=[ends[1]])
os.close(ends[1])
with os.fdopen(ends[0], encoding="utf-8") as file:
    assert file.read() == text
with open("lost", "w+", encoding="utf-8") as file:  # a descriptor whose file has no name any more
    os.remove("lost")
    expect(0, "", "a.dsl", "-o", "/dev/fd/%d" % file.fileno(), pass_fds=[file.fileno()])
    assert file.read() == text and not [name for name in os.listdir(".") if name.startswith("lost")]
