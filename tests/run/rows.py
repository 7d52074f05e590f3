"""rows.py - launches an example by its own contracts: for test_rows.py and test_norms.py.

In: a kernel's source; arrays and scalars by the names of its parameters. Out: its output arrays, and the inputs as the
kernel saw them, both as float64.
Method: the parameter list is read from the source. `x: *T[n_rows:x_stride, n_cols]` tells the shape that an array has,
and that its rows lie x_stride apart: `pad` elements more than a row. Between the rows of an input lies NaN; between
those of an output nothing may be written. A pointer for which no array is given is an output, but where `defines` says
None.
"""
import re
from types import SimpleNamespace

import numpy as np

from fsc import decode
from sweep import image_of

FLOATING = ("fp32", "fp16", "bf16", "fp64", "fp8e4nv")


def parameters(source):
    """[(name, annotation without default)] of the kernel's parameters."""
    text = re.search(r"^@kernel.*?^def \w+\((.*?)\):$", source, re.S | re.M).group(1)
    parts = re.findall(r"(\w+)\s*:\s*([^,\[=]+(?:\[[^\]]*\])?)(?:\s*=\s*[^,]+)?", text)
    return [(name, annotation.strip()) for name, annotation in parts]


def extents(annotation, values):
    """The shape of a contract such as *T[n_rows:x_stride, n_cols], and the name of its stride or None."""
    dims = [d.strip().split(":") for d in re.search(r"\[(.*)\]", annotation).group(1).split(",")]
    return tuple(eval(d[0], {}, values) for d in dims), dims[0][1] if len(dims[0]) > 1 else None


def as_rows(shape):
    return (shape[0], shape[1]) if len(shape) == 2 else (1, shape[0])


class Launch:
    """One launch under way: buffers and strides come from the contracts, one pointer after the other."""

    def __init__(self, bench, source, values, types, pad, offset, absent):
        self.bench, self.values, self.types, self.pad, self.offset = bench, dict(values), types, pad, offset
        self.seen, self.out, self.args = dict(values), {}, []
        listed = parameters(source)
        for name, annotation in listed:
            if name in absent:
                continue
            if annotation.startswith("*"):
                self.args.append(self.pointer(name, annotation))
            elif annotation not in ("constexpr", "dtype"):
                self.args.append(name)
        self.args = [self.values[a] if isinstance(a, str) else a for a in self.args]

    def pointer(self, name, annotation):
        kind = re.match(r"\*(?:const )?(\w+)", annotation).group(1)
        dtype = self.types.get(kind, kind)
        shape, stride = extents(annotation, self.values)
        rows, cols = as_rows(shape)
        width = cols + self.pad if stride else cols
        if stride:
            self.values[stride] = width
        buffer = self.bench.buffer(dtype, rows * width, offset=self.offset)
        if name not in self.values:
            self.out[name] = (buffer, shape, width, buffer.raw())
            return buffer
        image = image_of(np.full((rows, width), np.nan if dtype in FLOATING else 77), dtype).reshape(rows, width)
        image[:, :cols] = image_of(np.broadcast_to(self.values[name], shape), dtype).reshape(rows, cols)
        buffer.write(image)
        self.seen[name] = decode(np.ascontiguousarray(image[:, :cols]), dtype).reshape(shape)
        return buffer

    def results(self):
        found = {}
        for name, (buffer, shape, width, before) in self.out.items():
            rows, cols = as_rows(shape)
            after, before = buffer.raw().reshape(rows, width), before.reshape(rows, width)
            assert after[:, cols:].tobytes() == before[:, cols:].tobytes(), f"{name}: written between the rows"
            found[name] = decode(np.ascontiguousarray(after[:, :cols]), buffer.dtype).reshape(shape)
        return found


def launch(bench, source, values, types, pad=0, offset=0, **options):
    """`values` by the names of parameters, `types` of dtype parameters → ({output: float64},
    what the kernel saw by name)."""
    source = source.decode() if isinstance(source, bytes) else source
    absent = [name for name, value in options.get("defines", {}).items() if value == "None"]
    run = Launch(bench, source, values, types, pad, offset, absent)
    bench.jit_once(source, types=types, **options).launch(*run.args)
    return run.results(), SimpleNamespace(**run.seen)
