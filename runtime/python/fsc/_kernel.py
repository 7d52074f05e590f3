"""_kernel.py - sources, kernels, calls.

In: a file, settings; arguments by position and by name. Out: a launch through fsc_jit_call, which fills in what shape
contracts name; or an exception. A call packs its arguments into a block of fsc_value structs that its thread keeps;
what a call needs of ctypes is made when the kernel first meets a device.
"""
import ctypes as c
import functools
import operator
import os
import struct
import sys
import threading

from ._arrays import (FLOAT_ARG, FOREIGN, HOST, MISSING, MISSING_VALUE, POINTER_ARG, READERS, UNKNOWN, UNSIGNED_ARG,
                      VALUE, Unreadable, dtype_name, reader, torch_stream, unreadable)
from ._library import (CONSTEXPR, DTYPE, EMIT, OPEN, SCALAR, ArgumentError, Error, NameValue, Param, Report, check,
                       failure, lib, output)
from ._repeat import Launcher

_lock = threading.RLock()
# A fork waits for the thread that holds it: in the child there is no such thread.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_devices = {}  # (name, whether launches are checked): handle; kept until the process ends
_launch = lib.fsc_jit_call
_grid_of = struct.Struct("<3q").pack_into


def _device(name, is_checked):
    with _lock:
        if (name, is_checked) not in _devices:
            handle = c.c_void_p()
            check(lib.fsc_device_open(name.encode(), c.byref(handle)))
            if is_checked:
                check(lib.fsc_device_check(handle, True))
            _devices[name, is_checked] = handle.value
        return _devices[name, is_checked]


class _Jit:
    """fsc_jit: the kernel with its settings on one device."""

    def __init__(self, source, kernel, device, is_checked, settings):
        self.device = _device(device, is_checked)
        pairs = (NameValue * max(1, len(settings)))(*[NameValue(name.encode(), text.encode())
                                                      for name, text in settings])
        handle = c.c_void_p()
        status = lib.fsc_jit_open(self.device, os.fsencode(source.file), source.text, len(source.text),
                                  kernel.encode() if kernel else None, pairs, len(settings), c.byref(handle))
        self.handle = handle.value
        if status:
            raise failure(status, lib.fsc_jit_message(handle) if handle else None)

    def __del__(self, is_finalizing=sys.is_finalizing):
        if getattr(self, "handle", None) and not is_finalizing():
            lib.fsc_jit_destroy(self.handle)

    def params(self):
        found, p = [], Param()
        while lib.fsc_jit_param(self.handle, len(found), c.byref(p)) == 0:
            found.append(Parameter(len(found), p))
        return found


class Parameter:
    """One parameter of a kernel: name, dtype, text as the source has it."""

    def __init__(self, index, p):
        self.index, self.kind, self.is_optional = index, p.kind, p.is_optional
        self.name, self.dtype, self.text = p.name.decode(), p.dtype.decode(), p.text.decode()
        self.is_argument = self.kind not in (CONSTEXPR, DTYPE)
        _, has_default, text = self.text.partition(" = ")
        default = _value(text) if has_default else None
        # None: or a rule, which the launch knows
        self.default = None if isinstance(default, str) and self.kind != DTYPE else default


class _Call:
    """What one launch packs into, and what it must remember until it is queued."""

    __slots__ = ("buffer", "used", "address", "grid", "keep", "streams", "stream", "read_only", "_pin")

    def __init__(self, count):
        # arguments of earlier calls that may still be in it
        self.buffer, self.used = bytearray(max(1, count) * VALUE), count
        self._pin = (c.c_char * len(self.buffer)).from_buffer(self.buffer)
        self.address = c.addressof(self._pin)
        self.grid = (c.c_int64 * 3)()
        self.keep, self.streams, self.read_only, self.stream = [], set(), [], None


def _stream_number(stream):
    """A CUstream from an int, torch's and CuPy's streams, and what has __cuda_stream__."""
    found, error = stream, None
    try:
        for name in ("cuda_stream", "ptr"):
            found = getattr(stream, name, None) if not isinstance(found, int) else found
        if not isinstance(found, int) and hasattr(stream, "__cuda_stream__"):
            found = stream.__cuda_stream__()[1]
    except Exception as raised:  # whatever an object does that is no stream
        found, error = None, raised
    if not isinstance(found, int) or not 0 <= found < 1 << 64:
        raise ArgumentError(f"{object.__repr__(stream) if error else repr(stream)} is no stream: pass torch's, CuPy's, "
                            "or the address of a "
                            "CUstream") from error
    return found


def _setting_text(value):
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (int, float, str)):
        return repr(value) if isinstance(value, float) else str(value)
    return dtype_name(value) or str(value)


def _value(text):
    """A setting or a default as a number, if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def _current():
    """The GPU that "cuda" means now."""
    ordinal = c.c_int()
    check(lib.fsc_device_current(c.byref(ordinal)))
    return ordinal.value


def _place(where):
    if where == HOST:
        return "host memory"
    return "GPU memory" if where == FOREIGN + UNKNOWN else f"memory of GPU {where & (FOREIGN - 1)}"


class Kernel:
    """A kernel of a file, to be called with arrays and numbers."""

    def __init__(self, source, name, device=None, check=False, settings=None):
        self._source, self._device, self._check, self._settings = source, device, bool(check), dict(settings or {})
        self._by_device, self._jits, self._variants, self._writes = {}, {}, {}, None
        self._front = _Jit(source, name, device if device and not device.startswith("cuda") else "cpu", self._check,
                           list(self._settings.items()))
        self.parameters = self._front.params()
        self.__name__ = lib.fsc_jit_kernel(self._front.handle).decode()
        self.signature = f"{self.__name__}({', '.join(p.text for p in self.parameters)})"
        self.__doc__ = f"{self.signature}\n\nKernel of {source.file}." + (f" Here {self._settings_text()}."
                                                                          if self._settings else "")
        self._arguments = [p for p in self.parameters if p.is_argument]
        self._positions = {p.name: i for i, p in enumerate(self._arguments)}
        self._count = len(self._arguments)
        self._absent = [MISSING_VALUE * (self._count - i) for i in range(self._count + 1)]
        self._local, self._launcher = threading.local(), Launcher(self._call)

    def _settings_text(self):
        return ", ".join(f"{name} = {text}" for name, text in self._settings.items())

    def __repr__(self):
        return f"<fsc kernel {self.signature}{' with ' + self._settings_text() if self._settings else ''}>"

    def using(self, device=None, check=None, **settings):
        """The same kernel with constexpr parameters, types or options fixed: using(BLOCK=1024, T="fp16", num_warps=8),
        or on a device: using(device="emu", check=True)."""
        texts = dict(self._settings)
        texts.update((name, _setting_text(value)) for name, value in settings.items())
        return Kernel(self._source, self.__name__, self._device if device is None else device,
                      self._check if check is None else check, texts)

    def __getitem__(self, grid):
        """Triton's way: kernel[grid](…)."""
        return functools.partial(self._launcher.launch, grid)

    # ---- A call ------------------------------------------------------------------------------------------------------

    def __call__(self, *args, grid=None, **named):
        """Launches. What is left out is what the shape contracts say that the arrays' sizes and strides are,
        or the default. stream: of CUDA; else torch's current one, or the one that an array was made on."""
        return self._launcher.launch(grid, *args, **named)

    def _call(self, grid, *args, stream=None, **named):
        """A call that is not like one before."""
        meta = functools.partial(self._meta, args, named)
        if grid is not None and callable(grid):
            grid = grid(meta())
        kernel, values = self, args
        if named or len(args) > self._count:
            settings, values = self._by_position(args, named)
            kernel = self._variant(settings) if settings else self
        kernel._pack_and_launch(values, grid, stream)
        if stream is None:
            self._launcher.know(kernel, args, named, self._place_of, meta, None)

    def _place_of(self, key):
        """(name, place) of the argument that a call gives by position or by name; None: it is a setting"""
        place = key if isinstance(key, int) else self._positions.get(key)
        return None if place is None else (self._arguments[place].name, place)

    def _pack_and_launch(self, args, grid, stream):
        count = len(args)
        try:
            free = self._local.free
        except AttributeError:
            free = self._local.free = []
        call = free.pop() if free else _Call(self._count)
        offset, where, used = 0, None, call.used
        call.used = self._count  # unless all goes well
        try:
            if stream is not None:
                call.stream = stream = _stream_number(stream)
            for value in args:
                try:
                    at = (READERS.get(type(value)) or reader(value))(value, call, offset)
                except (Error, MemoryError):
                    raise
                except Exception as error:  # whatever an object does that is no array and no number
                    raise Unreadable(unreadable(error)) from error
                if at is not None and at != where:
                    where = at if where is None else self._meet(where, at, args)
                offset += VALUE
            if count < used:
                call.buffer[offset:] = self._absent[count]
            call.used = count
            jit = self._jits.get(where) or self._open(where)
            if call.read_only:
                self._check_read_only(call)
            if where is not None and where != HOST and (call.streams or stream is None):
                stream = self._choose_stream(call, where, jit)
            status = _launch(jit.handle, None if grid is None else self._grid(grid, call), call.address, self._count,
                             stream)
            if status:
                raise failure(status, lib.fsc_jit_message(jit.handle)
                              if lib.fsc_status_name(status) == b"FSC_ERROR_SOURCE" else None)
        except Unreadable as why:
            raise self._unreadable(offset // VALUE, why) from why.__cause__
        finally:
            if call.keep or call.streams or call.read_only or call.stream is not None:
                call.keep, call.streams, call.read_only, call.stream = [], set(), [], None
            free.append(call)

    def _unreadable(self, index, why):
        return ArgumentError(f"kernel {self.__name__}: argument {self._arguments[index].name} {why}")

    def _by_position(self, args, named):
        """Named values in their places; names that are no arguments are settings."""
        if len(args) > self._count:
            raise ArgumentError(f"kernel {self.__name__} takes {self._count} arguments by position, not {len(args)}: "
                                f"{self.signature}")
        values, settings = list(args) + [MISSING] * (self._count - len(args)), {}
        for name, value in named.items():
            i = self._positions.get(name)
            if i is None:
                settings[name] = _setting_text(value)
            elif i < len(args):
                raise ArgumentError(f"kernel {self.__name__}: argument {name} is given twice, by position and by name")
            else:
                values[i] = value
        return settings, values

    def _meta(self, args, named):
        """What a grid that is a function is called with: defaults, what is fixed, numbers as such,
        and what the call gives."""
        meta = {p.name: p.default for p in self.parameters if p.default is not None}
        meta.update((name, _value(text)) for name, text in self._settings.items())
        meta.update((p.name, value) for p, value in zip(self._arguments, args) if value is not MISSING)
        return {**meta, **named}

    def _variant(self, settings):
        key = tuple(sorted(settings.items()))
        found = self._variants.get(key)
        if found is None:
            found = self._variants[key] = self.using(**settings)
        return found

    def _grid(self, grid, call):
        try:
            sizes = [operator.index(size) for size in (grid if hasattr(grid, "__iter__") else (grid,))]
        except TypeError:
            raise ArgumentError(f"kernel {self.__name__}: the grid {grid!r} is no whole number, "
                                "and no whole numbers") from None
        if not 1 <= len(sizes) <= 3:
            raise ArgumentError(f"kernel {self.__name__}: a grid is one to three numbers, not {len(sizes)}")
        try:
            _grid_of(call.grid, 0, *sizes, *(1,) * (3 - len(sizes)))
        except struct.error:
            raise ArgumentError(f"kernel {self.__name__}: the grid {grid} is no whole numbers of 64 bits") from None
        return c.addressof(call.grid)

    # ---- Devices and streams -----------------------------------------------------------------------------------------

    def _meet(self, where, at, args):
        """Two arrays in different places: the same GPU by two names of it, or an error."""
        ordinals = {where & (FOREIGN - 1), at & (FOREIGN - 1)} if HOST not in (where, at) else set()
        if len(ordinals) == 1 or (len(ordinals) == 2 and UNKNOWN in ordinals):
            return min(where, at)  # torch's, if it is one of them
        raise ArgumentError(f"kernel {self.__name__}: its arrays are in {_place(where)} and in {_place(at)}: move them "
                            "to one place")

    def _open(self, where):
        wanted = self._device
        is_host = where == HOST or (where is None and wanted is not None and not wanted.startswith("cuda"))
        if where is None and wanted is None:
            raise ArgumentError(f"kernel {self.__name__}: no argument is an array, so nothing says where to run: "
                                "using(device=\"cuda\")")
        if wanted is not None and where is not None and is_host == wanted.startswith("cuda"):
            raise ArgumentError(f"kernel {self.__name__}: its arrays are in {_place(where)}, and it is to run on "
                                f"device {wanted}")
        ordinal = UNKNOWN if where is None else where & (FOREIGN - 1)
        is_current = not is_host and ordinal == UNKNOWN and wanted in (None, "cuda")
        name = wanted or "cpu"
        if not is_host and wanted in (None, "cuda"):
            name = f"cuda:{_current() if is_current else ordinal}"
        elif not is_host and ordinal != UNKNOWN and name != f"cuda:{ordinal}":
            raise ArgumentError(f"kernel {self.__name__}: its arrays are in {_place(where)}, and it is to run on "
                                f"device {wanted}")
        with _lock:
            if name not in self._by_device:
                is_front = is_host and name == (self._device or "cpu")
                self._by_device[name] = self._front if is_front else _Jit(self._source, self.__name__, name,
                                                                          self._check, list(self._settings.items()))
            jit = self._by_device[name]
            if not is_current:  # another context may be at the next call
                self._jits[where] = jit
        return jit

    def _choose_stream(self, call, where, jit):
        """The stream of the call, torch's current one, or the one that an array was made on;
        it waits for the others'."""
        if call.stream is not None:
            stream = call.stream
        elif where < FOREIGN:
            stream = torch_stream(where)
        else:
            stream = next(iter(call.streams), 0)
        for other in call.streams:
            if other != stream:
                check(lib.fsc_stream_wait(jit.device, other))
        return stream

    # ---- What a launch would run -------------------------------------------------------------------------------------

    def _pack(self, args):
        """The arguments by position as one call's block, which holds none of them, and the device they are on."""
        call, wheres = _Call(self._count), set()
        for i, value in enumerate(args):
            try:
                wheres.add(reader(value)(value, call, i * VALUE))
            except Unreadable as why:
                raise self._unreadable(i, why) from why.__cause__
        if len(args) < self._count:
            call.buffer[len(args) * VALUE:] = self._absent[len(args)]
        call.keep = []
        wheres.discard(None)
        return call, self._open(wheres.pop() if wheres else None)

    def inspect(self, *args, emit="ptx", arch=None):
        """The code of the variant that a launch of these arguments takes, as bytes: emit as the tool's --emit; for
        the arguments' device, or for arch, whose card need not be there."""
        return self._inspect(*self._pack(args), emit, arch)

    def _inspect(self, call, jit, emit, arch):
        handle = c.c_void_p()
        if emit not in EMIT:
            raise ArgumentError(f"there is no '{emit}' to emit; it is one of {', '.join(EMIT)}")
        status = lib.fsc_jit_inspect(jit.handle, arch.encode() if arch else None, EMIT.index(emit), call.address,
                                     self._count, c.byref(handle))
        try:
            check(status, lib.fsc_jit_message(jit.handle) if status else None)
            return output(handle)
        finally:
            lib.fsc_compilation_destroy(handle)

    def _report(self, call, jit):
        found = Report()
        status = lib.fsc_jit_report(jit.handle, call.address, self._count, c.byref(found))
        check(status, lib.fsc_jit_message(jit.handle) if status else None)
        return found

    def writes(self):
        """The names of the pointers that the kernel stores through."""
        if self._writes is None:
            reads, writes, found = c.c_bool(), c.c_bool(), set()
            for p in self._arguments:
                check(lib.fsc_jit_access(self._front.handle, p.index, c.byref(reads), c.byref(writes)),
                      lib.fsc_jit_message(self._front.handle))
                if writes.value and p.kind != SCALAR:
                    found.add(p.name)
            self._writes = found
        return self._writes

    def _open_types(self, call):
        """Types of the parameters that the source gives none, as this call's arguments are."""
        types = {}
        for i, p in enumerate(self._arguments):
            kind, code = struct.unpack_from("<ii", call.buffer, i * VALUE)
            if p.kind == OPEN and kind == POINTER_ARG:
                types[p.name] = "*" + lib.fsc_dtype_name(code).decode()
            elif p.kind == OPEN:
                types[p.name] = {FLOAT_ARG: "fp32", UNSIGNED_ARG: "u64"}.get(kind, "i32")
        return types

    def _check_read_only(self, call):
        types = self._open_types(call)
        written = (self._variant(types) if types else self).writes()
        for i in call.read_only:
            if self._arguments[i].name in written:
                raise ArgumentError(f"kernel {self.__name__}: argument {self._arguments[i].name} is read-only, and the "
                                    "kernel writes it")


class Source:
    """A file of kernels, each an attribute: load("softmax.dsl").softmax. `kernels` has the names of its entry points;
    functions that they call, and those inside of host functions, are there by name as well."""

    def __init__(self, text, file, device=None, check=False, **settings):
        self.text, self.file = text.encode() if isinstance(text, str) else bytes(text), os.fsdecode(file)
        self._device, self._check, self._settings = device, check, {name: _setting_text(value)
                                                                    for name, value in settings.items()}
        self._kernels, self._functions = {}, None
        self.kernels = self._names(lib.fsc_source_kernels)

    def _names(self, ask):
        handle = c.c_void_p()
        status = ask(os.fsencode(self.file), self.text, len(self.text), c.byref(handle))
        said = lib.fsc_compilation_diagnostics(handle) if handle else b""
        names = output(handle) if handle else b""
        lib.fsc_compilation_destroy(handle)
        if status:
            raise failure(status, said or None)
        return names.decode().split()

    def _has(self, name):
        if name in self.kernels:
            return True
        if self._functions is None:
            self._functions = frozenset(self._names(lib.fsc_source_functions))
        return name in self._functions

    def __getattr__(self, name):
        if name.startswith("__") or "kernels" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __getitem__(self, name):
        if not self._has(name):
            raise KeyError(f"{self.file} has no kernel '{name}'; it has {', '.join(self.kernels) or 'none'}")
        with _lock:
            if name not in self._kernels:
                self._kernels[name] = Kernel(self, name, self._device, self._check, self._settings)
        return self._kernels[name]

    def __dir__(self):
        return list(super().__dir__()) + self.kernels

    def __repr__(self):
        return f"<fsc source {self.file}: {', '.join(self.kernels)}>"


def load(path, device=None, check=False, **settings):
    """The kernels of a file (.dsl, or Triton's .py). device: where to run, else where a call's arrays are ("emu" and
    "cpu:N" take NumPy's, too); check: every launch on "cpu" or "emu" is watched; settings: as Kernel.using."""
    with open(path, "rb") as file:
        return Source(file.read(), path, device, check, **settings)


def loads(text, file="source.dsl", device=None, check=False, **settings):
    """The same of a text; messages call it `file`."""
    return Source(text, file, device, check, **settings)
