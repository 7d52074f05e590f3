"""_repeat.py - launches like one before, without a line of Python: the package's side of runtime/python/repeat.c.

In: a kernel's own way to launch, run(grid, *args, **named); behind a launch, what makes another one like it. Out: a
function of the same arguments that launches what is alike by itself, and calls `run` for the rest. Where the process is
no CPython with its lock, that function is `run`.
"""
import ctypes as c
import sys

from . import _arrays
from ._arrays import HOST
from ._library import library_path

SAME, CONSTANT, INTEGER, REAL, TENSOR = range(5)  # Kind of repeat.c
_NUMBERS = {int: INTEGER, bool: INTEGER, float: REAL}
_WORTH = {int, float, bool, str, type(None)}  # constants that are compared by value; others must be the same object
_MOST = 64  # launches of one kernel that are remembered, as in repeat.c


class _Method(c.Structure):
    """PyMethodDef."""
    _fields_ = [("name", c.c_char_p), ("function", c.c_void_p), ("flags", c.c_int), ("doc", c.c_char_p)]


def _functions():
    """(open, know, make the function of a state, forget), or None."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    if sys.implementation.name != "cpython" or not has_lock:
        return None
    library = c.PyDLL(library_path)
    create, know, new = library.fsc_python_open, library.fsc_python_know, c.pythonapi.PyCFunction_NewEx
    create.restype, create.argtypes = c.py_object, [c.py_object]
    know.restype, know.argtypes = c.c_int, [c.py_object, c.py_object]
    new.restype, new.argtypes = c.py_object, [c.POINTER(_Method), c.py_object, c.c_void_p]
    fastcall_with_keywords = 0x82
    library.fsc_python_forget.restype, library.fsc_python_forget.argtypes = None, [c.py_object]
    method = _Method(b"launch", c.cast(library.fsc_python_launch, c.c_void_p).value, fastcall_with_keywords, None)
    return create, know, lambda state: new(c.byref(method), state, None), library.fsc_python_forget


_found = _functions()


def _words():
    """What repeat.c asks of tensors; None: there is no torch."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    if not hasattr(tensor, "data_ptr"):
        return None
    return tuple, int, None, "shape", "dtype", "device", tensor.data_ptr, tensor.stride


class Launcher:
    """launch(grid, *args, **named) of one kernel. `told` is kept, as repeat.c borrows the objects in it."""

    def __init__(self, run):
        self.launch, self.told, self._run, self._capsule, self._words = run, {}, run, None, None

    def forget(self):
        """From now on every launch is the package's own, also through a `launch` that somebody kept."""
        if self._capsule and self._capsule is not self:
            _found[3](self._capsule)
        self.launch, self._capsule = self._run, self

    def _open(self):
        self._words = _found and _words()
        if self._words:
            self._capsule = _found[0](self._words)
            self.launch = _found[2]((self._capsule, self._run, self.told, self._words))
        return self._capsule

    def _reads(self, kind):
        """Whether repeat.c reads it as _arrays.py does."""
        return _arrays.READERS.get(kind) is _arrays._read_torch and (kind.data_ptr, kind.stride) == self._words[6:]

    def know(self, kernel, args, named, place_of, meta, result, takes_sizes=True):
        """Behind a launch that went well. place_of(name or position): (name, place among the kernel's arguments), or
        None for a constant; meta(): what a grid that is a function is called with; takes_sizes: whether anything asks
        for the sizes of tensors. Whatever repeat.c has no form of is not told."""
        if self._capsule is self or len(self.told) == _MOST or not (self._capsule or self._open()):
            return
        given, devices = [], set()
        for key, value in [*enumerate(args), *named.items()]:
            place, kind = place_of(key), type(value)
            if place is None:
                given.append((CONSTANT if kind in _WORTH else SAME, kind, value, "", 0, 0))
            elif kind in _NUMBERS:
                given.append((_NUMBERS[kind], kind, None, place[0], place[1], 0))
            elif self._reads(kind):
                devices.add(value.device)
                given.append((TENSOR, kind, value.dtype, place[0], place[1], _arrays._codes[value.dtype]))
            else:
                return
        if len(devices) != 1 or len({p for _, _, _, p, _, _ in given if p}) != sum(1 for g in given if g[3]):
            return
        device = devices.pop()
        where = HOST if device.type == "cpu" else device.index
        jit = kernel._jits.get(where)
        if jit is None:
            return
        stream_of = None if where == HOST else _arrays.raw_stream()
        key = (len(args), tuple(named), where, tuple((k, t, id(v) if k == SAME else v) for k, t, v, *_ in given))
        if key in self.told:  # of a launch that repeat.c could not read
            return
        shown = meta()
        shown.update((name, None) for _, _, _, name, *_ in given if name)  # no array outlives its launch
        told = (jit.handle, tuple(named) or None, device, stream_of, where, shown, result, len(args), kernel._count,
                tuple(given), takes_sizes, jit)
        self.told[key] = told  # what is borrowed is kept first
        _found[1](self._capsule, told)
