"""cuda_rows.py - CUDA by hand: softmax.cu, and memory moved with a kernel's mix of reads and writes (moves.cu).

In: a case. Out: launch(i). Method: nvcc makes a shared object of each source, once, named by what it was made of;
`cuda_rows.py FOLDER` does so ahead (pack.sh, for a machine whose time is dear).
"""
import concurrent.futures
import ctypes as c
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
READY = os.path.join(HERE, "built")  # what pack.sh brings
FLAGS = ("-O3", "-std=c++17", "--shared", "-Xcompiler", "-fPIC")
SOURCES = ("softmax.cu", "moves.cu")
DEFAULT_ARCH = "sm_90"


class NoCompiler(Exception):
    pass


def find_nvcc():
    for place in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if place and os.access(place, os.X_OK):
            return place
    raise NoCompiler("there is no nvcc")


def build(source, arch, folder):
    """The shared object of a source for an architecture, from the folder, or made there."""
    with open(os.path.join(HERE, source), "rb") as f:
        key = hashlib.sha256(f.read() + repr((FLAGS, arch)).encode()).hexdigest()[:16]
    name = f"{source[:-3]}-{arch}-{key}.so"
    for place in (READY, folder):
        if os.path.exists(os.path.join(place, name)):
            return os.path.join(place, name)
    os.makedirs(folder, exist_ok=True)
    part = os.path.join(folder, f"{os.getpid()}-{name}")
    done = subprocess.run([find_nvcc(), *FLAGS, f"-arch={arch}", "-o", part, os.path.join(HERE, source)],
                          capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise NoCompiler(f"nvcc does not compile {source}: {(done.stderr or done.stdout).strip()[:300]}")
    os.replace(part, os.path.join(folder, name))
    return os.path.join(folder, name)


def build_all(arch, folder):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda source: build(source, arch, folder), SOURCES))


@functools.lru_cache(maxsize=None)
def library(source, arch):
    """The loaded object, or the NoCompiler that says why there is none."""
    try:
        lib = c.CDLL(build(source, arch, os.path.join(tempfile.gettempdir(), f"fsc-bench-{os.getuid()}")))
    except NoCompiler as why:
        return why
    for dtype in ("fp32", "fp16", "bf16") if source == "softmax.cu" else ():
        getattr(lib, f"softmax_{dtype}").argtypes = [c.c_void_p, c.c_void_p, c.c_int64, c.c_int64, c.c_int, c.c_int,
                                                     c.c_void_p]
    for mix in ("1_0", "1_1", "2_1", "2_2") if source == "moves.cu" else ():
        getattr(lib, f"move_{mix}").argtypes = [c.c_void_p] * 4 + [c.c_int64, c.c_void_p, c.c_void_p]
    return lib


def library_for(case, source):
    from machine import Skip  # not where this file runs as a program
    if not case.machine.is_gpu:
        raise Skip("CUDA wants a GPU")
    lib = library(source, case.machine.arch)
    if isinstance(lib, NoCompiler):
        raise Skip(str(lib))
    return lib


def succeed(error):
    if error:
        raise RuntimeError(f"CUDA error {error}")


def softmax(case):
    from machine import NotFor
    if case.kernel.name != "softmax":
        raise NotFor("softmax alone is written in CUDA")
    start = getattr(library_for(case, "softmax.cu"), f"softmax_{case.dtype}")
    rows, n, stream = case.rows, case.n, case.machine.stream

    def launch(i):
        b = case.sets[i]
        succeed(start(b["y"].address, b["x"].address, n, n, rows, n, stream()))

    return launch


def move(case):
    """A launch that moves what the kernel must move: as many matrices in and out, nothing else."""
    k = case.kernel
    start = getattr(library_for(case, "moves.cu"), f"move_{k.reads}_{k.writes}")
    outs, ins = case.moved()
    never = case.machine.array((4,), "i32")
    stream = case.machine.stream

    def launch(i):
        b = case.sets[i]
        to, source = [b[name].address for name in outs], [b[name].address for name in ins]
        succeed(start(*(to + [None, None])[:2], *(source + [None])[:2], b[ins[0]].bytes, never.address, stream()))

    return launch


PEERS = {"cuda": softmax}

if __name__ == "__main__":
    print("\n".join(build_all(DEFAULT_ARCH, sys.argv[1])))
