"""execute.py - one random kernel on one device: compiled, launched, and every buffer compared from end to end.

In: a Program, an open Device, what the evaluator expects. Out: an Outcome: kind ("ok", "wrong", "source", "guard", a
status), the detail that tells it from other failures of the kind, and a text for people.
"""
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
os.environ.setdefault("FSC_CACHE_DIR", "off")  # every case compiles; nothing is written into the user's cache
import fsc  # noqa: E402

from evaluate import Evaluator  # noqa: E402
from functions import number  # noqa: E402
from nodes import is_float  # noqa: E402


class Outcome:
    def __init__(self, kind, detail="", text=""):
        self.kind, self.detail, self.text = kind, detail, text

    def same(self, other):
        return (self.kind, self.detail) == (other.kind, other.detail)


def failed(status, message):
    """What a message says, without places, numbers and names."""
    line = next((x for x in message.splitlines() if "error" in x or "bug" in x), message.split("\n")[0])
    line = re.sub(r"^.*?error: ", "", line)
    return Outcome(status, re.sub(r"'[^']*'|\d+|\b[a-z]+\d+\w*\b|tile<[^>]*>+|[{}]", "#", line)[:120], message)


def compare(b, got, want, tolerance):
    """The text of the first difference, or None."""
    if not is_float(b.dtype):
        wrong = got != want
    else:
        g, w = number(got, b.dtype), number(want, b.dtype)
        kind = np.uint16 if b.dtype == "bf16" else {2: np.uint16, 4: np.uint32, 8: np.uint64}[w.dtype.itemsize]
        nan, exact = np.isnan(w), got.view(kind) == want.view(kind)
        wrong = np.where(nan, ~np.isnan(g), ~exact)
        if tolerance is not None:
            g, w = g.astype(np.float64), w.astype(np.float64)
            with np.errstate(invalid="ignore"):
                near = np.isfinite(g) & np.isfinite(w) & (np.abs(g - w) <= tolerance)
            wrong &= ~(near | np.isinf(tolerance))
        got, want = number(got, b.dtype), number(want, b.dtype)
    if not wrong.any():
        return None
    i = int(np.flatnonzero(wrong)[0])
    more = f", within {tolerance[i]:g}" if tolerance is not None and tolerance[i] else ""
    return f"{b.name}[{i}] is {got[i]!r}, expected {want[i]!r}{more} ({int(wrong.sum())} of {wrong.size} differ)"


def execute(program, device, expected=None, damage=False):
    """damage: a bit of the device's result is turned over, for the test of this test."""
    want, tolerance = expected or Evaluator(program).run()
    buffers, jit = {}, None
    try:
        for b in program.buffers:
            buffers[b.name] = fsc.Buffer(device, b.dtype, b.count, None, b.offset)
            if b.data is not None:
                buffers[b.name].write(b.data)
        jit = fsc.Jit(device, program.emit(), file="k.dsl", num_warps=program.num_warps, num_ctas=program.num_ctas)
        arguments = [buffers[b] for _, b, _ in program.pointers] + [int(v) for _, _, v in program.scalars]
        jit.launch(*arguments)
        for b in program.buffers:
            got = buffers[b.name].raw()
            if damage and b.role == "out" and b.count > 2:
                got.view(np.uint8)[got.nbytes // 2] ^= 0x40
            text = compare(b, got, want[b.name], tolerance[b.name])
            if text:
                return Outcome("wrong", "", text)
        if not all(b.guards_intact() for b in buffers.values()):
            return Outcome("guard", "", "memory beside a buffer was written")
        return Outcome("ok")
    except fsc.Error as e:
        return failed(e.status, str(e))
    finally:
        if jit:
            jit.close()
        for b in buffers.values():
            b.free()
