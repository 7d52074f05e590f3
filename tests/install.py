#!/usr/bin/env python3
"""install.py BUILD|ARCHIVE FAKE_DRIVER [CFLAGS]: what is installed is enough to build programs with kernels in them.

Unpacks cpack's archive (of the build, or the one given) somewhere, and builds docs/examples/embed against it with
CMake; the same with a C compiler and pkg-config from --emit=c; compares the .deb; runs all of it without a driver, on
the tests' fake one, and on a GPU if there is one. Every type of a scalar reaches the kernel as the header passes it.
Libraries show fsc_* only; nothing in the archive needs LLVM or a newer C library.
"""

import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
NO_DRIVER = {"FSC_CUDA_LIBRARY": "libfsc-has-no-such-driver.so"}


def run(*command, env=None, folder=None, fails=False):
    """Standard output of a command that must end well (or must not)."""
    done = subprocess.run(command, cwd=folder, env=dict(os.environ, **(env or {})), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600)
    if (done.returncode != 0) != fails:
        sys.exit("%s\nexit status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout + (done.stderr if fails else "")


def expect(found, what):
    if not found:
        sys.exit("%s: %s" % (os.path.basename(sys.argv[0])[: -len(".py")], what))


def unpack(archive, folder):
    """The prefix: the archive's one folder, under another name."""
    inside, prefix = os.path.join(folder, "inside"), os.path.join(folder, "moved")
    shutil.unpack_archive(archive, inside)
    only, = os.listdir(inside)
    os.rename(os.path.join(inside, only), prefix)
    return prefix


def install(build, folder, sanitized):
    """The prefix: of the archive that cpack makes; of a sanitized build, which is large,
    as cmake --install gives it."""
    first, prefix = os.path.join(folder, "first"), os.path.join(folder, "moved")
    if not os.path.isdir(build):
        return unpack(build, folder)
    if sanitized:
        run("cmake", "--install", build, "--prefix", first)
        os.rename(first, prefix)
        return prefix
    run("cpack", "-G", "TGZ", "-B", first, "--config", os.path.join(build, "CPackConfig.cmake"), folder=build)
    archive, = glob.glob(os.path.join(first, "*.tar.gz"))
    return unpack(archive, folder)


def check_debian(build, prefix, folder):
    """The .deb has the archive's files under /usr, its tool runs,
    and it depends on nothing that a bare system lacks."""
    if not shutil.which("dpkg-deb"):
        return
    made, root = os.path.join(folder, "deb"), os.path.join(folder, "root")
    run("cpack", "-G", "DEB", "-B", made, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", "--config",
        os.path.join(build, "CPackConfig.cmake"), folder=build)
    package, = glob.glob(os.path.join(made, "*.deb"))
    depends = re.findall(r"[\w.+-]+(?= \(|,|$)", run("dpkg-deb", "-f", package, "Depends").strip())
    expect(set(depends) == {"libc6", "zlib1g"}, "%s depends on %s" % (package, depends))
    run("dpkg-deb", "-x", package, root)
    usr = os.path.join(root, "usr")
    trees = [sorted(os.path.relpath(path, top) for path in glob.glob(os.path.join(top, "**"), recursive=True))
             for top in (prefix, usr)]
    expect(trees[0] == trees[1], "the .deb and the .tar.gz differ: %s" % sorted(set(trees[0]) ^ set(trees[1])))
    expect(run(os.path.join(usr, "bin", "fsc"), "--version").startswith("fsc "),
           "the .deb's fsc does not tell its version")


def check_share(prefix):
    share = os.path.join(prefix, "share")
    pages = sorted(os.listdir(os.path.join(share, "man", "man1")))
    commands = re.findall(r"^\.BR (\S+) \(1\)",
                          open(os.path.join(share, "man", "man3", "libfsc.3"), encoding="utf-8").read() +
                          "\n".join(open(os.path.join(share, "man", "man1", page), encoding="utf-8").read()
                                    for page in pages), re.M)
    expect(len(pages) > 4 and pages == sorted({name.replace("\\", "") + ".1" for name in commands}),
           "manual pages are %s" % pages)
    if shutil.which("groff"):
        for page in glob.glob(os.path.join(share, "man", "*", "*")):
            warned = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", page], text=True,
                                    stderr=subprocess.PIPE).stderr
            expect(not warned, "groff about %s: %s" % (page, warned))
    for name in ("bash-completion/completions/fsc", "zsh/site-functions/_fsc", "fish/vendor_completions.d/fsc.fish"):
        expect("emit" in open(os.path.join(share, name), encoding="utf-8").read(), name + " lacks --emit")
    for name in ("doc/fsc/reference/language.md", "doc/fsc/dsl_examples/softmax.dsl", "doc/fsc/LICENSE",
                 "fsc/editors/fsc.tmLanguage.json", "fsc/editors/vim/syntax/fsc.vim", "fsc/python/fsc/__init__.pyi",
                 "fsc/python/fsc/triton/language.pyi"):
        expect(os.path.isfile(os.path.join(share, name)), "the package lacks share/" + name)
    for name in ("run", "bench", "tune"):
        page = open(os.path.join(share, "man", "man1", "fsc-%s.1" % name), encoding="utf-8").read()
        expect(".SH EXAMPLES" in page, "the page of fsc %s has no examples" % name)


def check_library(path, soname, sanitized):
    shown = re.findall(r" [A-Z] (\w+)$", run("nm", "-D", "--defined-only", path), re.M)
    expect("fsc_object_launch" in shown, "%s lacks fsc_object_launch" % path)
    expect(all(name.startswith("fsc_") for name in shown), "%s shows more than fsc_*" % path)
    dynamic = run("readelf", "-d", path)
    expect("[%s]" % soname in dynamic, "%s has another SONAME than %s" % (path, soname))
    needless = "LLVM|cuda" if sanitized else r"LLVM|cuda|stdc\+\+"  # sanitizers need the shared C++ runtime
    expect(not re.search("NEEDED.*(%s)" % needless, dynamic), "%s needs what users may lack" % path)


def with_python(prefix):
    """The package of the archive finds the library of the archive."""
    program = ("import array, fsc\nx = array.array('f', [1, 2, 3])\ny = array.array('f', [0, 0, 0])\n"
               "a, b = (fsc.Array(v.buffer_info()[0], 'fp32', (1, 3), owner=v) for v in (y, x))\n"
               "fsc.load(%r).softmax(a, b)\nprint(abs(sum(y) - 1) < 1e-6, fsc.library_path)" %
               os.path.join(ROOT, "dsl_examples", "softmax.dsl"))
    printed = run(sys.executable, "-B", "-c", program,
                  env={"PYTHONPATH": os.path.join(prefix, "share", "fsc", "python"), "FSC_LIBRARY": ""})
    expect(printed.startswith("True ") and os.path.realpath(printed.split()[1]).startswith(os.path.realpath(prefix)),
           "Python prints %r" % printed)


GLIBC = (2, 36)
SYSTEM = r"libc\.so\.6|libm\.so\.6|libz\.so\.1|ld-linux-x86-64\.so\.2"


def check_files(prefix):
    """Every program and library of the archive: only the C library (built on Debian 12: its own at most) and
    zlib."""
    paths = [path for path in glob.glob(os.path.join(prefix, "**"), recursive=True) if os.path.isfile(path) and
             not os.path.islink(path)]
    paths = [path for path in paths if open(path, "rb").read(4) == b"\177ELF"]
    expect(len(paths) == 3, "programs and libraries are %s" % paths)
    here = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")))
    for path in paths:
        dynamic = run("readelf", "-d", path)
        needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
        expect(needed and all(re.fullmatch(SYSTEM, name) for name in needed), "%s needs %s" % (path, needed))
        expect(not re.search(r"\((RPATH|RUNPATH)\)", dynamic), "%s looks for libraries in folders of its own" % path)
        versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", run("objdump", "-T", path))}
        expect(versions and max(versions) <= max(GLIBC, here),
               "%s needs glibc %s" % (path, ".".join(map(str, max(versions)))))
        others = set(re.findall(r"\b(GLIBCXX|CXXABI|LLVM|GCC)_[0-9.]+", run("objdump", "-T", path)))
        expect(not others, "%s needs symbols of %s" % (path, others))


def runs_well(program, kernel_version):
    """Without a driver: the CPU version, if there is one."""
    printed = run(program, env=NO_DRIVER, fails=kernel_version != "cpu")
    wanted = (r"^softmax of 257 x 781: off by [0-9e.-]+ at most$" if kernel_version == "cpu"
              else "^FSC_NO_DRIVER: there is no CUDA")
    expect(re.search(wanted, printed, re.M), "%s prints %r" % (program, printed))


def with_graphs(program, fake):
    """A hundred launches of a graph of one."""
    with tempfile.NamedTemporaryFile("r") as log:
        printed = run(program, env={"FSC_CUDA_LIBRARY": fake, "FAKE_CUDA_LOG": log.name}, fails=True)
        calls = log.read().split()
    expect("softmax of 1000 equal values: 0\n" in printed, "%s on the fake driver prints %r" % (program, printed))
    counts = [calls.count(name) for name in ("cuLaunchKernel", "cuGraphLaunch", "cuStreamEndCapture")]
    expect(counts == [1, 100, 1], "%s makes %s calls" % (program, counts))


def gpu_driver():
    """The path of the driver's library; None: no GPU."""
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
    except OSError:
        return None
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return None
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return re.search(r"\s(/\S*/libcuda\.so\S*)$", maps.read(), re.M)[1]


def on_fake_driver(program, fake):
    """Every call of the driver succeeds, and no kernel runs: the wrong result is what the program tells."""
    printed = run(program, env={"FSC_CUDA_LIBRARY": fake}, fails=True)
    expect("softmax of 257 x 781: off by" in printed, "%s on the fake driver prints %r" % (program, printed))


def with_cmake(prefix, folder, flags, fake):
    project, build = os.path.join(folder, "project"), os.path.join(folder, "build")
    shutil.copytree(os.path.join(ROOT, "docs", "examples", "embed"), project)
    kernel = shutil.copy(os.path.join(ROOT, "dsl_examples", "softmax.dsl"), project)
    run("cmake", "-G", "Ninja" if shutil.which("ninja") else "Unix Makefiles", "-S", project, "-B", build,
        "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_C_FLAGS=" + flags, "-DCMAKE_CXX_FLAGS=" + flags,
        env={"FSC_PTXAS": "no-such-ptxas"})
    make = ("cmake", "--build", build)
    run(*make, env={"FSC_PTXAS": "no-such-ptxas"})
    runs_well(os.path.join(build, "embed"), "cpu")
    on_fake_driver(os.path.join(build, "embed"), fake)
    if gpu_driver():
        run(os.path.join(build, "embed"))
    with tempfile.NamedTemporaryFile("r") as log:
        printed = run(os.path.join(build, "embed_cpp"), env={"FSC_CUDA_LIBRARY": fake, "FAKE_CUDA_LOG": log.name})
        expect(log.read() == "", "an object for CPUs alone calls the driver")
    expect("--variants BLOCK=512..8192 would cover it" in printed, "embed_cpp prints %r" % printed)
    expect("Compiling kernels" not in run(*make), "kernels are compiled again though nothing changed")
    text = open(kernel, encoding="utf-8").read()
    open(kernel, "w", encoding="utf-8").write(text.replace("e / sum(e, axis=0)", "2.0 * e / sum(e, axis=0)"))
    expect("Compiling kernels" in run(*make), "a kernel that changed is not compiled again")
    run(os.path.join(build, "embed"), env=NO_DRIVER, fails=True)


def wrong_calls(prefix, folder):
    """fsc_add_kernels says what it lacks."""
    os.mkdir(folder)
    calls = {"fsc_add_kernels(nobody SOURCES a.dsl ARCHS cpu)": "there is no target 'nobody'",
             "fsc_add_kernels(t SOURCES a.dsl)": "ARCHS is missing",
             "fsc_add_kernels(t a.dsl ARCHS cpu)": "'a.dsl' belongs to no word"}
    for call, why in calls.items():
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.20)\nproject(wrong LANGUAGES C)\nfind_package(fsc REQUIRED)\n"
                       "add_library(t STATIC)\n%s\n" % call)
        printed = run("cmake", "-S", folder, "-B", os.path.join(folder, "build"), "-DCMAKE_PREFIX_PATH=" + prefix,
                      fails=True)
        expect(why in " ".join(printed.split()), "%s gives %r" % (call, printed))


def by_page(tool, kernel, source, folder, flags, env):
    """docs/how-to/embedding.md's own line, with the flags of a build with sanitizers,
    makes a program that finds its library."""
    with open(os.path.join(ROOT, "docs", "how-to", "embedding.md"), encoding="utf-8") as file:
        line = next(line for line in file if line.startswith("cc embed.c "))
    os.mkdir(folder)
    shutil.copy(source, folder)
    run(tool, "--emit=object", "--arch=sm_80,cpu", kernel, "-o", "softmax.o", "--header=softmax.h", folder=folder,
        env=env)
    run("sh", "-ec", line.replace("cc ", "cc " + flags + " ", 1), folder=folder, env=env)
    run(os.path.join(folder, "embed"))


def with_c_compiler(prefix, folder, flags, fake):
    tool, source = os.path.join(prefix, "bin", "fsc"), os.path.join(ROOT, "docs", "examples", "embed", "embed.c")
    kernel = os.path.join(ROOT, "dsl_examples", "softmax.dsl")
    env = {"PKG_CONFIG_PATH": os.path.join(prefix, "lib", "pkgconfig"), "FSC_PTXAS": "no-such-ptxas"}
    if shutil.which("pkg-config"):
        words = run("pkg-config", "--cflags", "--libs", "fsc-runtime", env=env).split()
    else:
        words = ["-I" + os.path.join(prefix, "include"), "-L" + os.path.join(prefix, "lib"), "-lfsc-runtime", "-lm"]
    rpath = "-Wl,-rpath," + os.path.join(prefix, "lib")
    if shutil.which("pkg-config"):
        by_page(tool, kernel, source, os.path.join(folder, "page"), flags, env)
    for kind, archs, version in [("c", "sm_80,sm_90", "ptx"), ("object", "cpu", "cpu")]:
        made = os.path.join(folder, "softmax." + {"c": "c", "object": "o"}[kind])
        run(tool, "--emit=" + kind, "--arch=" + archs, kernel, "-o", made, "--header",
            os.path.join(folder, "softmax.h"), env=env)
        program = os.path.join(folder, "embed_" + kind)
        run("cc", "-std=c17", *STRICT, *flags.split(), "-I" + folder, source, made, "-o", program, *words, rpath)
        runs_well(program, version)
        if version != "cpu":
            on_fake_driver(program, fake)
        if gpu_driver():
            printed = run(program, fails=version == "cpu")
            expect(version != "cpu" or "is memory of a GPU, and this is its CPU version" in printed,
                   "%s prints %r" % (program, printed))
    made = os.path.join(folder, "softmax.c")
    for standard in ("c99", "c11", "c++11", "c++20"):  # the C file is of all of them
        run("c++" if "+" in standard else "cc", *STRICT, "-std=" + standard, "-x", standard.rstrip("0123456789"),
            "-I" + os.path.join(prefix, "include"), "-c", made, "-o", os.path.join(folder, "standard.o"))
    for library in filter(None, [fake, gpu_driver()]):
        program = os.path.join(folder, "graph")
        run("cc", "-std=c17", *STRICT, *flags.split(), "-I" + folder,
            os.path.join(ROOT, "docs", "examples", "embed", "graph.c"), made, "-o", program, library, *words, rpath,
            "-Wl,-rpath," + os.path.dirname(fake))
        with_graphs(program, fake) if library == fake else run(program)
    for opt in ("0", "2"):
        made, program = os.path.join(folder, "types.o"), os.path.join(folder, "types")
        run(tool, "--emit=object", "--arch=cpu", "--opt=" + opt, os.path.join(ROOT, "tests", "Inputs", "types.dsl"),
            "-o", made, "--header", os.path.join(folder, "types.h"))
        run("cc", "-O" + opt, "-std=c17", *flags.split(), "-I" + folder,
            os.path.join(ROOT, "tests", "Inputs", "types.c"), made, "-o", program, *words, rpath)
        run(program)
    static = os.path.join(folder, "embed_static")
    run("cc", *flags.split(), "-I" + folder, "-I" + os.path.join(prefix, "include"), source,
        os.path.join(folder, "softmax.o"), "-o", static, os.path.join(prefix, "lib", "libfsc-runtime.a"), "-lm",
        "-lpthread", "-ldl")
    runs_well(static, "cpu")
    run("c++", *STRICT, "-I" + os.path.join(prefix, "include"), "-fsyntax-only", "-x", "c++",
        os.path.join(folder, "softmax.h"), "-Wno-pragma-once-outside-header")


def main():
    build, fake, flags = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), " ".join(sys.argv[3:])
    with tempfile.TemporaryDirectory() as folder:
        prefix = install(build, folder, bool(flags))
        check_share(prefix)
        if not flags:
            check_files(prefix)
            if os.path.isdir(build):
                check_debian(build, prefix, folder)
        for name in ("libfsc-runtime", "libfsc"):
            check_library(os.path.join(prefix, "lib", name + ".so"), name + ".so.0", bool(flags))
        if not flags:  # of sanitizers, which Python does not have
            with_python(prefix)
        with_cmake(prefix, folder, flags, fake)
        wrong_calls(prefix, os.path.join(folder, "wrong"))
        os.mkdir(os.path.join(folder, "c"))
        with_c_compiler(prefix, os.path.join(folder, "c"), flags, fake)
    print("install: programs build and run")


if __name__ == "__main__":
    main()
