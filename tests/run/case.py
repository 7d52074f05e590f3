"""case.py - what a run test is made of: the @case mark, buffers that end with their case, and the judges.

Oracle rules: expected values are float64 formulas; positions of NaN and infinity are compared exactly before any
tolerance; outputs are poisoned first, and every buffer stands between guard bands that are checked after the launch.
"""
import ctypes
import itertools
import os
import tempfile

import numpy as np

import fsc

CASES = []  # (name, function of a device, slow, the only devices it is for)
U = 2.0 ** -24
ULP = {"fp16": 2.0 ** -10, "bf16": 2.0 ** -7, "fp32": 2.0 ** -23, "fp64": 2.0 ** -52}
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dsl_examples")


class Skip(Exception):
    pass


def case(slow=False, only=None, **parameters):
    """Registers a function for every combination of the lists given by keyword."""

    def mark(function):
        names = list(parameters)
        for values in itertools.product(*parameters.values()):
            chosen = dict(zip(names, values))
            text = ", ".join(f"{k}={v}" for k, v in chosen.items())
            CASES.append((f"{function.__name__}({text})", _bind(function, chosen), slow,
                          (only,) if isinstance(only, str) else only))
        return function

    return mark


def _bind(function, chosen):
    def run(device):
        with Bench(device) as bench:
            function(bench, **chosen)

    return run


def example(name):
    with open(os.path.join(EXAMPLES, name), "rb") as f:
        return f.read()


class Bench:
    """What a case works on: makes buffers, launches kernels, checks the guards and frees everything at the end."""

    def __init__(self, device):
        self.device, self.buffers, self.jits, self.once = device, [], [], {}

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        intact = kind is not None or all(b.guards_intact() for b in self.buffers)
        for b in self.buffers:
            b.free()
        for j in self.jits:
            j.close()
        assert intact, "a guard band was overwritten"

    def buffer(self, dtype, count, data=None, offset=0):
        self.buffers.append(fsc.Buffer(self.device, dtype, count, data, offset))
        return self.buffers[-1]

    def jit(self, source, **options):
        self.jits.append(fsc.Jit(self.device, source, **options))
        return self.jits[-1]

    def jit_once(self, source, **options):
        """The same Jit for the same source and options, for cases that launch one kernel many times. The CPU's code is
        the same for every number of warps."""
        matters = [(k, v) for k, v in sorted(options.items()) if (self.device.name, k) != ("cpu", "num_warps")]
        key = (source, repr(matters))
        if key not in self.once:
            self.once[key] = self.jit(source, **options)
        return self.once[key]

    def run(self, source, *args, grid=None, **options):
        self.jit_once(source, **options).launch(*args, grid=grid)


class Output:
    """What is written to standard output in between, by whomever of the process."""

    def __enter__(self):
        self.libc = ctypes.CDLL(None)
        self.libc.fflush(None)
        self.file = tempfile.TemporaryFile()
        self.saved = os.dup(1)
        os.dup2(self.file.fileno(), 1)
        return self

    def __exit__(self, *_):
        self.libc.fflush(None)
        os.dup2(self.saved, 1)
        os.close(self.saved)
        self.file.seek(0)
        self.lines = self.file.read().decode().splitlines()
        self.file.close()


def same_bits(got, want, what=""):
    """Equal to the bit, but for NaN payloads."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    if got.dtype.kind == "f":
        bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[got.dtype.itemsize]
        nan = np.isnan(want)
        wrong = (np.isnan(got) != nan) | (~nan & (got.view(bits) != want.astype(got.dtype).view(bits)))
    else:
        wrong = got != want
    if wrong.any():
        i = int(np.flatnonzero(wrong.ravel())[0])
        raise AssertionError(f"{what}: {int(wrong.sum())} of {wrong.size} differ; the first at {i}: "
                             f"{got.ravel()[i]!r}, not {want.ravel()[i]!r}")


def close(got, want, rtol, atol=0.0, what=""):
    """|got − want| ≤ atol + rtol·|want|, elementwise bounds allowed; special values at exactly the same places."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    for name, test in (("NaN", np.isnan), ("+inf", np.isposinf), ("-inf", np.isneginf)):
        wrong = test(got) != test(want)
        first = int(np.flatnonzero(wrong.ravel())[0]) if wrong.any() else 0
        assert not wrong.any(), (f"{what}: {name} at wrong places, the first at {first}: "
                                 f"{got.ravel()[first]} vs {want.ravel()[first]}")
    finite = np.isfinite(want)
    with np.errstate(invalid="ignore"):
        excess = np.where(finite, np.abs(got - want) - (atol + np.asarray(rtol) * np.abs(want)), 0)
    if (excess > 0).any():
        i = int(np.argmax(excess))
        raise AssertionError(f"{what}: {int((excess > 0).sum())} of {excess.size} beyond tolerance; the worst at {i}: "
                             f"{got.ravel()[i]!r}, not {want.ravel()[i]!r}")


def must_fail(judge, what):
    """A planted fault: `judge` must not accept it."""
    try:
        judge()
    except AssertionError:
        return
    raise AssertionError(f"accepted, although it is wrong: {what}")
