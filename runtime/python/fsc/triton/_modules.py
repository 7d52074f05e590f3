"""_modules.py - triton's other modules, and `import triton` for this one.

In: the rows of MODULES. Out: modules in sys.modules, below fsc.triton and, after install(), below triton. They hold
what host code of kernels asks for, no more: a name that is not there is an ImportError at the place that wants it.
"""
import collections
import importlib.machinery
import os
import sys
import types

from .. import _library
from .._library import Error, SourceError
from . import _jit, _tune, language, standard, testing

GPUTarget = collections.namedtuple("GPUTarget", "backend arch warp_size")


class OutOfResources(Error):
    """A kernel wants more than the device has; fsc raises ArgumentError where a launch does."""


class InterpreterError(Error):
    """Of TRITON_INTERPRET, which fsc does not have: install(check=True) watches the real code."""


CompilationError = SourceError  # a kernel does not compile; it says where


# ---- The driver ------------------------------------------------------------------------------------------------------


class _Utils:
    def get_device_properties(self, device=0):
        cuda = _jit.torch_cuda()
        if not cuda:
            return {"multiprocessor_count": os.cpu_count(), "max_shared_mem": 232448, "max_num_regs": 65536,
                    "warpSize": 32, "sm_clock_rate": 0, "mem_clock_rate": 0, "mem_bus_width": 0}
        p = cuda.get_device_properties(device)
        return {"multiprocessor_count": p.multi_processor_count, "warpSize": p.warp_size,
                "max_shared_mem": p.shared_memory_per_block_optin, "max_num_regs": p.regs_per_multiprocessor,
                "sm_clock_rate": p.clock_rate, "mem_clock_rate": p.memory_clock_rate,
                "mem_bus_width": p.memory_bus_width}


class _Driver:
    """The device that launches go to, as wrappers ask for it: torch's current one, else the CPU."""

    utils = _Utils()

    def get_current_device(self):
        cuda = _jit.torch_cuda()
        return cuda.current_device() if cuda else 0

    def set_current_device(self, device):
        if _jit.torch_cuda():
            _jit.torch_cuda().set_device(device)

    def get_current_stream(self, device=None):
        cuda = _jit.torch_cuda()
        return cuda.current_stream(device).cuda_stream if cuda else 0

    def get_current_target(self):
        cuda = _jit.torch_cuda()
        major, minor = cuda.get_device_capability() if cuda else (0, 0)
        return GPUTarget("cuda" if cuda else "cpu", 10 * major + minor, 32 if cuda else 1)

    def get_device_capability(self, device=None):
        cuda = _jit.torch_cuda()
        return cuda.get_device_capability(device) if cuda else (0, 0)

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", self.get_current_device()) if _jit.torch_cuda() else torch.device("cpu")

    def get_device_interface(self):
        import torch
        return torch.cuda if _jit.torch_cuda() else torch.cpu

    def get_benchmarker(self):
        return testing.do_bench

    def get_empty_cache_for_benchmark(self):
        import torch
        return torch.empty(64 << 20, dtype=torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache):
        cache.zero_()

    @classmethod
    def is_active(cls):
        return _jit.torch_cuda() is not None


_active = _Driver()
driver = types.SimpleNamespace(active=_active, default=_active, set_active=lambda to: None,
                               reset_active=lambda: None)

class InterpretedFunction:
    """What TRITON_INTERPRET makes of a kernel; here nothing does: install(check=True) watches the real one."""


def triton_key():
    """What a cache of others puts into its keys for the compiler."""
    return _library.version


# ---- The modules -----------------------------------------------------------------------------------------------------


def _libdevice():
    return {name: language.Builtin(f"libdevice.{name}") for name in language.LIBDEVICE}


language.constexpr_function = _jit.constexpr_function
_tl = {name: value for name, value in vars(language).items() if not name.startswith("_")}
_device = _libdevice()
_jits = {name: getattr(_jit, name) for name in ("ConstexprFunction", "JITFunction", "KernelInterface", "KernelParam",
                                                  "TensorWrapper", "constexpr_function", "jit", "reinterpret")}
_tuner = {name: getattr(_tune, name) for name in ("Autotuner", "Config", "Heuristics", "autotune", "heuristics")}
_math = {name: _tl[name] for name in language.MATH}
MODULES = {
    "language.core": {**_tl, "CONSTEXPR_0": language.constexpr(0), "get_int_dtype": standard.get_int_dtype,
                      "_unwrap_if_constexpr": language._plain},
    "language.standard": {**_tl, **{n: f for n, f in vars(standard).items()
                                   if hasattr(f, "__fsc_function__") or n in standard.COMBINES}},
    "language.math": {**_device, **_math},
    "language.random": _tl,
    "language.extra": {},
    "language.extra.libdevice": _device,
    "language.extra.cuda": {**_device, **{name: language.Builtin(name) for name in language.CUDA}},
    "language.extra.cuda.libdevice": _device,
    "language.extra.hip": {},
    "language.extra.hip.libdevice": _device,
    "runtime": {**_jits, **_tuner, "driver": driver, "OutOfResources": OutOfResources},
    "runtime.jit": {**_jits, "T": None, "type_canonicalisation_dict": {
        **{long: code for long, (_, code) in language._TYPES.items()}, "bool": "i1", "float8e4": "fp8e4nv"}},
    "runtime.autotuner": {**_tuner, "OutOfResources": OutOfResources},
    "runtime.driver": {"driver": driver, "active": _active},
    "runtime.errors": {"OutOfResources": OutOfResources, "InterpreterError": InterpreterError},
    "runtime._allocation": {"NullAllocator": object, "_allocator": None},
    "runtime.cache": {"triton_key": triton_key},
    "runtime.interpreter": {"InterpretedFunction": InterpretedFunction},
    "compiler": {"CompiledKernel": _jit.Variant, "CompilationError": CompilationError},
    "compiler.compiler": {"CompiledKernel": _jit.Variant, "triton_key": triton_key},
    "compiler.errors": {"CompilationError": CompilationError, "CompileTimeAssertionFailure": CompilationError},
    "tools": {},
    "tools.tensor_descriptor": {"TensorDescriptor": _jit.TensorDescriptor},
    "backends": {"backends": {}},
    "backends.compiler": {"GPUTarget": GPUTarget},
    "errors": {"TritonError": Error},
}


def register(root):
    """Puts the modules below that name, which is there itself."""
    for path, names in MODULES.items():
        module = types.ModuleType(f"{root}.{path}", "See fsc.triton.")
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None, is_package=True)
        module.__path__ = []
        vars(module).update(names)
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        if name != "driver":  # triton.runtime.driver is the object, as in Triton
            setattr(sys.modules[parent], name, module)


def install(device=None, check=False):
    """Makes `import triton` mean fsc.triton, for this process. device, check: as fsc.load's, for every kernel."""
    ours = sys.modules["fsc.triton"]
    other = sys.modules.get("triton")
    if other is not None and other is not ours:
        raise ImportError("fsc.triton.install(): triton was imported before; install it first of all")
    _jit.settings.update(device=device, check=bool(check))
    for name, module in list(sys.modules.items()):
        if name == "fsc.triton" or name.startswith("fsc.triton.") and not name.split(".")[2].startswith("_"):
            sys.modules[name[len("fsc."):]] = module
