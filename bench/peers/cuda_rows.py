"""cuda_rows.py - CUDA by hand: softmax.cu, and memory moved with a kernel's mix of reads and writes (moves.cu).

In: a case. Out: launch(i). Method: nvcc makes a shared object of each source, once, named by what it was made of;
`cuda_rows.py FOLDER` does so ahead (pack.sh, for a machine whose time is dear).
"""
import concurrent.futures
import ctypes as c
import functools
import os
import shutil
import sys

if __name__ == "__main__":
    import objects
else:
    from peers import objects

FLAGS = ("-O3", "-std=c++17", "--shared", "-Xcompiler", "-fPIC")
SOURCES = ("softmax.cu", "moves.cu")
DEFAULT_ARCH = "sm_90"


def find_nvcc():
    for place in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if place and os.access(place, os.X_OK):
            return place
    raise objects.NoCompiler("there is no nvcc")


def build(source, arch, folder):
    return objects.build(source, find_nvcc, (*FLAGS, f"-arch={arch}"), arch, folder)


def build_all(arch, folder):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda source: build(source, arch, folder), SOURCES))


@functools.lru_cache(maxsize=None)
def library(source, arch):
    """The loaded object, or the NoCompiler that says why there is none."""
    try:
        lib = c.CDLL(build(source, arch, objects.temporary()))
    except objects.NoCompiler as why:
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
    if isinstance(lib, objects.NoCompiler):
        raise Skip(str(lib))
    return lib


def softmax(case):
    from machine import NotFor
    if case.kernel.name != "softmax":
        raise NotFor("softmax alone is written in CUDA")
    start = getattr(library_for(case, "softmax.cu"), f"softmax_{case.dtype}")
    rows, n, stream = case.rows, case.n, case.machine.stream

    def launch(i):
        b = case.sets[i]
        error = start(b["y"].address, b["x"].address, n, n, rows, n, stream())
        if error:
            raise RuntimeError(f"CUDA error {error}")

    return launch


def move(case):
    return objects.move(case, library_for(case, "moves.cu"), case.machine.stream)


PEERS = {"cuda": softmax}

if __name__ == "__main__":
    print("\n".join(build_all(DEFAULT_ARCH, sys.argv[1])))
