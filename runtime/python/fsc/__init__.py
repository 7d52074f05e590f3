"""fsc - kernels of fsc from Python, over libfsc, without a build step.

    import fsc
    softmax = fsc.load("softmax.dsl").softmax
    softmax(y, x)                       # torch, CuPy, JAX, anything with DLPack; NumPy runs on the CPU

Arrays say where the kernel runs. Sizes and strides that its shape contracts name are taken from them.
docs/how-to/python.md has the rest.
"""
from ._arrays import Array, view
from ._kernel import Kernel, Source, load, loads
from ._library import (ArgumentError, CheckError, DeviceError, Error, LibraryError, OutOfMemory, SourceError,
                       library_path, version, version_number)
from ._torch import torch_op

__version__ = ".".join(str(version_number // step % 100) for step in (10000, 100, 1))
__all__ = ["load", "loads", "Source", "Kernel", "Array", "view", "torch_op", "version", "library_path", "Error",
           "SourceError", "ArgumentError", "DeviceError", "CheckError", "OutOfMemory", "LibraryError"]
