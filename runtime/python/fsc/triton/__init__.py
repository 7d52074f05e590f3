"""fsc.triton - stands in for the package triton: files written for it run on fsc.

    import fsc.triton as triton
    import fsc.triton.language as tl

or, for packages that say `import triton` themselves, before they are imported:

    import fsc.triton
    fsc.triton.install()

docs/how-to/from-triton.md has the rest.
"""
from . import knobs, language, testing
from .._library import Error as TritonError
from ._jit import (ConstexprFunction, JITFunction, KernelInterface, TensorDescriptor, TensorWrapper,
                   constexpr_function, jit, must_use_result, reinterpret)
from ._modules import CompilationError, InterpreterError, OutOfResources, install, register
from ._tune import Autotuner, Config, Heuristics, autotune, heuristics
from .language import constexpr

__version__ = "3.7.1"  # of the language


def cdiv(x, y):
    return (x + y - 1) // y


def next_power_of_2(n):
    return 1 if n <= 1 else 1 << (int(n) - 1).bit_length()


def set_allocator(allocator):
    """fsc's kernels have their scratch memory of the runtime."""


cdiv.__fsc_text__, next_power_of_2.__fsc_text__ = "triton.cdiv", "triton.next_power_of_2"
register(__name__)
