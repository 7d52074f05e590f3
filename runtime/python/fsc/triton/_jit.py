"""_jit.py - @triton.jit: a Python function as a kernel, its launches.

In: a function, arguments as Triton takes them. Out: a launch of fsc's kernel. Method: the kinds of a launch's run-time
arguments and the values of its constants make a variant. A variant is a text (_text.py) whose `def` fits just these
arguments: constants are its defaults, tuples and descriptors are taken apart and put together again before the body.
Element types, divisibility and sizes are the launch's own affair (_kernel.py).
"""
import collections.abc
import functools
import hashlib
import inspect
import sys
import types

from .._arrays import READERS, Array, _read_view, dtype_name, view
from .._kernel import _lock, loads
from .._library import Error
from .._repeat import Launcher
from . import language as tl
from ._text import Bundle, Function, Unwritable, is_constexpr_annotation

settings = {"device": None, "check": False}  # of install()

# What a launch is told beside its arguments: the compiler's name of it, or None: it changes nothing here.
OPTIONS = {name: None for name in (
    "maxnreg launch_cooperative_grid enable_fp_fusion enable_reflect_ftz sanitize_overflow waves_per_eu "
    "matrix_instr_nonkdim kpack cluster_dims extern_libs allow_fp8e4nv max_num_imprecise_acc_default ir_override arch "
    "backend_name supported_fp8_dtypes allowed_dot_input_precisions default_dot_input_precision "
    "instrumentation_mode stream device device_type num_buffers_warp_spec num_consumer_groups reg_dec_producer "
    "reg_inc_consumer").split()}
OPTIONS.update(num_warps="num_warps", num_stages="num_stages", num_ctas="num_ctas", debug="device_debug",
               launch_pdl="overlap")


class TensorDescriptor:
    """An array with the blocks that a kernel takes of it."""

    def __init__(self, base, shape, strides, block_shape, padding="zero", round_f32_to_tf32=False):
        self.base, self.shape, self.strides, self.block_shape = base, list(shape), list(strides), list(block_shape)
        self.padding, self.round_f32_to_tf32 = padding, round_f32_to_tf32

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        strides = tensor.stride() if callable(getattr(tensor, "stride", None)) else [
            s // tensor.itemsize for s in tensor.strides]
        return TensorDescriptor(tensor, tensor.shape, strides, block_shape, padding, round_f32_to_tf32)


class TensorWrapper:
    """An array seen with elements of another type."""

    def __init__(self, base, dtype):
        self.base, self.dtype, self._view = base, dtype, view(base, getattr(dtype, "code", dtype))

    def __getattr__(self, name):
        return getattr(self.base, name)


def reinterpret(array, dtype):
    """The same memory with elements of another type."""
    if isinstance(array, TensorWrapper):
        array = array.base
    wanted = dtype_name(getattr(dtype, "code", dtype))
    return array if dtype_name(array.dtype) == wanted else TensorWrapper(array, dtype)


def _read_wrapper(value, call, offset):
    return _read_view(value._view, call, offset)


READERS[TensorWrapper] = _read_wrapper


def torch_cuda():
    """torch.cuda, where torch has a GPU."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_available() else None


def default_device():
    """Where launches without an array go."""
    return "cuda" if torch_cuda() else "cpu"


# ---- Arguments -------------------------------------------------------------------------------------------------------

_plain = {int, float}  # types that go to the launch as they are


def _is_constant(value):
    """What a kernel knows when it is compiled, whatever the parameter says."""
    return value is None or isinstance(value, (str, tl.constexpr, type)) or _is_type(value) or (
        hasattr(value, "__fsc_function__"))


def _is_type(value):
    return isinstance(value, tl.dtype) or type(value).__name__ == "dtype" and type(value).__module__ == "torch"


def _is_address(value):
    """Whether it is an address and a type alone, which do not say where they are."""
    return hasattr(value, "data_ptr") and not hasattr(value, "device")


def _kind(value):
    """What of an argument decides the variant, hashable."""
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_kind, value))
    if isinstance(value, TensorDescriptor):
        return TensorDescriptor, len(value.shape), tuple(value.block_shape), value.padding
    return ("constant", getattr(value, "value", value)) if _is_constant(value) else type(value)


def _note_plain(value):
    kind = type(value)
    if kind is not bool and not isinstance(value, (tuple, list, TensorDescriptor)) and not _is_constant(value):
        _plain.add(kind)


def _flat(values):
    """The arguments of the launch itself, in the order of _parts."""
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flat(value)
        elif isinstance(value, TensorDescriptor):
            yield value.base
            yield from value.shape
            yield from value.strides[:-1]
        elif not _is_constant(value):
            yield value


def _parts(bundle, name, value, annotation=""):
    """(expression that is the argument, [parameters of the text that it is made of])"""
    if isinstance(value, (tuple, list)):
        parts = [_parts(bundle, f"{name}_{i}", v) for i, v in enumerate(value)]
        return bundle.tuple_of(value, [text for text, _ in parts]), sum((more for _, more in parts), [])
    if isinstance(value, TensorDescriptor):
        base = f"{name}_base"
        sizes = [f"{name}_size{i}" for i in range(len(value.shape))]
        strides = [f"{name}_stride{i}" for i in range(len(value.shape) - 1)]
        block, padding = ", ".join(map(str, value.block_shape)), getattr(value.padding, "value", value.padding)
        return (f"tl.make_tensor_descriptor({base}, [{', '.join(sizes)}], [{', '.join(strides + ['1'])}], [{block}], "
                f"padding_option={padding!r})"), [base, *(f"{n}: tl.int64" for n in sizes + strides)]
    if _is_constant(value):
        return bundle.literal(value), []
    return name, [name + (": tl.int1" if isinstance(value, bool) else annotation)]


# ---- Variants --------------------------------------------------------------------------------------------------------


class Variant:
    """The kernel for arguments of these kinds; Triton's CompiledKernel."""

    stages = {"ttir": "tile", "ttgir": "simt", "llir": "llvm", "ptx": "ptx", "cubin": "cubin", "asm": "asm"}

    def __init__(self, function, values, runtime, options):
        self.function, self.options = function, options
        self.bundle = Bundle(function.__fsc_function__)
        self.text, self._places = self.bundle.text(self._head(values))
        where = dict(settings)
        if where["device"] is None and all(isinstance(v, (int, float)) or _is_address(v)
                                            for v in runtime):
            where["device"] = default_device()
        try:
            self.kernel = loads(self.text, function.__fsc_function__.file, **where)[self.bundle.name].using(
                tuned="off", **options)  # a launch says its constants itself
        except Error as error:
            raise self.placed(error) from None
        self._packed = self.kernel._pack(runtime)  # what .asm and the rest speak of

    def _head(self, values):
        """The kernel's def for the values, and the statements that put taken apart ones together."""
        function, bundle = self.function, self.bundle
        runtime, constants, before = [], [], []
        for p, value in zip(function.params, values):
            name = p.name
            if p.is_constexpr:
                try:
                    constants.append(f"{name}: tl.constexpr = {bundle.literal(value)}")
                except Unwritable as kind:
                    raise TypeError(f"{function.__name__}: the value of {name} is a {kind}, which kernels do not "
                                    "have") from None
                continue
            text, parts = _parts(bundle, name, value, p.type)
            runtime += parts
            if not parts:
                constants.append(f"{name}: tl.constexpr = {text}")
            elif text != name:
                before.append(f"    {name} = {text}")
        return "\n".join(["@triton.jit", f"def {bundle.name}({', '.join(runtime + constants)}):", *before])

    @functools.cached_property
    def _needs(self):
        return self.kernel._report(*self._packed)

    @functools.cached_property
    def asm(self):
        return _Code(self)

    def code(self, stage):
        """Of the arguments' GPU; PTX of what ran on the CPU is for sm_80."""
        call, jit = self._packed
        arch = "sm_80" if jit is self.kernel._front and stage != "asm" else None
        try:
            found = self.kernel._inspect(call, jit, self.stages[stage], arch)
        except Error as error:
            raise self.placed(error) from None
        return found if stage == "cubin" else found.decode()

    n_regs = property(lambda self: self._needs.registers)
    n_spills = property(lambda self: self._needs.spill_bytes // 4)
    n_max_threads = property(lambda self: self._needs.max_threads_per_block)
    name = property(lambda self: self.bundle.name)

    @property
    def metadata(self):
        needs = self._needs
        return types.SimpleNamespace(
            name=self.name, shared=needs.shared_static + needs.shared_dynamic, num_warps=needs.threads_per_block // 32,
            num_ctas=self.options.get("num_ctas", 1), num_stages=self.options.get("num_stages", 0))

    def _init_handles(self):
        """Triton's way to say: load it now."""
        return self._needs

    def __getitem__(self, grid):
        return functools.partial(self.launch, grid=grid)

    def launch(self, *args, grid):
        """Runs it as it was compiled: args are those of the function, the constants' among them or not."""
        params = self.function.params
        if len(args) == len(params):
            args = [value for p, value in zip(params, args) if not p.is_constexpr]
        self.kernel(*_flat(args), grid=grid)

    def placed(self, error):
        """The same error with lines of other files named as such."""
        file, text = self.function.__fsc_function__.file, str(error)
        for line, other, there in reversed(self._places):
            parts = text.split(f"{file}:")
            for i, part in enumerate(parts[1:], 1):
                number, colon, more = part.partition(":")
                if number.isdigit() and int(number) >= line:
                    parts[i] = f"\0{other}:{int(number) - line + there}{colon}{more}"
            text = f"{file}:".join(parts).replace(f"{file}:\0", "")
        error.args = (text, *error.args[1:])
        return error


class _Code(collections.abc.Mapping):
    """The code of a variant by stages, each made when it is asked for."""

    def __init__(self, variant):
        self._get = functools.lru_cache(None)(variant.code)

    def __getitem__(self, stage):
        if stage not in Variant.stages:
            raise KeyError(stage)
        return self._get(stage)

    def __iter__(self):
        return iter(Variant.stages)

    def __len__(self):
        return len(Variant.stages)


# ---- Functions -------------------------------------------------------------------------------------------------------


class KernelInterface:
    """What is launched as kernel[grid](…)."""

    def __getitem__(self, grid):
        return functools.partial(self.run, grid=grid)

    def warmup(self, *args, grid=(1,), **named):
        return self.run(*args, grid=grid, warmup=True, **named)

    def __call__(self, *args, **named):
        raise RuntimeError(f"{self.__name__} is a kernel: launch it, {self.__name__}[grid](…), or call it in a kernel")


def _binder(params):
    """A function that sorts a launch's arguments: those of run time, constants, options."""
    defaults = {f"_{p.num}": p.default for p in params if p.has_default}
    words = "".join(p.name + (f"=_{p.num}, " if p.has_default else ", ") for p in params)
    runtime = "".join(p.name + "," for p in params if not p.is_constexpr)
    constants = "".join(p.name + "," for p in params if p.is_constexpr)
    return eval(f"lambda {words}**_options: (({runtime}), ({constants}), _options)", defaults)


class KernelParam:
    """A parameter, with Triton's words for what is known of it."""

    def __init__(self, num, parameter, do_not_specialize):
        note = parameter.annotation
        self.num, self.name, self.default, self._note = num, parameter.name, parameter.default, note
        self.has_default = parameter.default is not parameter.empty
        self.annotation = "" if note is parameter.empty else note if isinstance(note, str) else getattr(
            note, "__name__", str(note))
        self.is_constexpr = "constexpr" in self.annotation
        self.type = f": {note.text}" if isinstance(note, tl.dtype) else ""
        self.do_not_specialize = bool(do_not_specialize) and (num in do_not_specialize or
                                                              self.name in do_not_specialize)


class JITFunction(KernelInterface):
    """A function under @triton.jit."""

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None,
                 noinline=None, repr=None, launch_metadata=None):  # pylint: disable=redefined-builtin
        functools.update_wrapper(self, fn)
        del self.__wrapped__
        self.fn, self.debug, self.noinline = fn, debug, noinline
        self.__fsc_function__ = Function(fn)
        self.params = [KernelParam(i, p, do_not_specialize)
                       for i, p in enumerate(inspect.signature(fn).parameters.values())]
        self.arg_names = [p.name for p in self.params]
        self.constexprs = {p.name for p in self.params if p.is_constexpr}
        self.__globals__, self._split = fn.__globals__, None
        self._variants, self.pre_run_hooks, self._launcher = {}, [], Launcher(self._run)

    src = property(lambda self: self.__fsc_function__.source())
    raw_src = src
    signature = property(lambda self: inspect.signature(self.fn))

    @property
    def cache_key(self):
        """Digits that change with the function and what it reaches."""
        return hashlib.sha256(Bundle(self.__fsc_function__).text("")[0].encode()).hexdigest()

    def _unsafe_update_src(self, source):
        """Another body, of a template; Triton's own name of it."""
        self.__fsc_function__.replace(source)
        self._launcher.forget()
        self._variants, self._launcher = {}, Launcher(self._run)

    def add_pre_run_hook(self, hook):
        self.pre_run_hooks.append(hook)
        self._launcher.forget()

    def __repr__(self):
        return f"JITFunction({self.__module__}:{self.__qualname__})"

    def _bound(self, args, named):
        if self._split is None:
            self._split = _binder(self.params)
        try:
            return self._split(*args, **named)
        except TypeError as error:
            raise TypeError(str(error).replace("<lambda>", self.__name__)) from None

    def _values(self, runtime, constants):
        runtime, constants = iter(runtime), iter(constants)
        return [next(constants if name in self.constexprs else runtime) for name in self.arg_names]

    def __getitem__(self, grid):
        return functools.partial(self._launcher.launch, grid)

    def run(self, *args, grid, warmup=False, **named):
        if not warmup:
            return self._launcher.launch(grid, *args, **named)
        runtime, constants, options = self._bound(args, named)
        # a type stands for an array of it
        runtime = tuple(Array(0, getattr(v, "code", v), ()) if _is_type(v) else v for v in runtime)
        return self._variant(runtime, constants, options)[0]

    def _variant(self, runtime, constants, options):
        """(the variant of these arguments, whether they go to the launch as they are)"""
        kinds = tuple(map(type, runtime))
        is_plain = _plain.issuperset(kinds)
        if not is_plain:
            kinds = tuple(map(_kind, runtime))
        key = kinds, constants, tuple(map(type, constants)), tuple(options.items()) if options else ()
        try:
            variant = self._variants.get(key)
        except TypeError:  # a list among the constants
            key = repr(key)
            variant = self._variants.get(key)
        if variant is None:
            with _lock:
                variant = self._variants.get(key)
                if variant is None:
                    variant = self._variants[key] = self._make(runtime, constants, options)
        return variant, is_plain

    def _run(self, grid, *args, **named):
        runtime, constants, options = self._bound(args, named)
        variant, is_plain = self._variant(runtime, constants, options)

        def meta():
            return dict(zip(self.arg_names, self._values(runtime, constants)), **options)

        if callable(grid):
            grid = grid(meta())
        for hook in self.pre_run_hooks:
            hook(*args, **named)
        try:
            variant.kernel(*(runtime if is_plain else _flat(runtime)), grid=grid)
        except Error as error:
            raise variant.placed(error) from None
        if is_plain and self._places.keys() <= {*self.arg_names[:len(args)], *named}:
            self._launcher.know(variant.kernel, args, named, self._place, meta, variant,
                                takes_sizes=variant.kernel._check)  # there are no contracts
        return variant

    def _place(self, key):
        """(name, place among the run-time arguments) of what a launch gives by position or by name; None: a constant"""
        name = key if isinstance(key, str) else self.arg_names[key]
        return self._places.get(name)

    @functools.cached_property
    def _places(self):
        names = [p.name for p in self.params if not p.is_constexpr]
        return {name: (name, i) for i, name in enumerate(names)}

    def _make(self, runtime, constants, options):
        for name in options:
            if name not in OPTIONS:
                raise KeyError(f"{self.__name__} has no parameter '{name}', and there is no such option of a launch")
        given = {OPTIONS[name]: value for name, value in options.items() if OPTIONS[name] and value is not None}
        for value in runtime:
            _note_plain(value)
        return Variant(self, self._values(runtime, constants), tuple(_flat(runtime)), given)


def jit(fn=None, **options):
    """Makes a kernel of a function, or a function that kernels call."""
    return functools.partial(jit, **options) if fn is None else JITFunction(fn, **options)


class ConstexprFunction:
    """A function of constants: kernels call it when they are compiled, Python calls it as it is."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn, self.__fsc_function__ = fn, Function(fn, is_constexpr=True)

    def __call__(self, *args, **named):
        return self.fn(*args, **named)


def constexpr_function(fn):
    return ConstexprFunction(fn)


def must_use_result(fn, *_):
    """A mark that Triton's own functions have; must_use_result("why") is a decorator."""
    return must_use_result if isinstance(fn, str) else fn
