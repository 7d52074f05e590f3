"""cases.py - the kernels that are measured: sources, arguments, float64 formulas, and the memory each must move.

A Case is a kernel at a size with its memory: one or more sets of inputs and outputs. Launches over several sets in turn
find nothing of theirs in the cache. In: a machine (machine.py) that has the memory. Out: arrays by name, wanted
results, bytes.
"""
import math
from collections import namedtuple

# Kernel: inputs and outputs by name, main output first; args(b, m, n): what the source's kernel takes; formula(xp,
# *inputs) → outputs, for NumPy and torch alike; reads, writes: matrices of T moved once each (EIGHT_BITS: one of
# these); slack: the part of an output's largest number that its errors are measured against (0: each number against
# itself); more: (file, args) of what is launched behind it; scratch: what they hand on, by name; absent: arrays of the
# source that are left out. An input that is an output, too, is written in place.
Kernel = namedtuple("Kernel", "name file inputs outputs args formula reads writes slack whole_columns more scratch "
                    "absent", defaults=(0.25, False, (), (), ()))

EPS = 1e-5
PLACES = {1: 132, 2: 66, 4: 30, 8: 15}  # clusters of so many blocks that an H100 or H200 runs at a time
# What is no matrix of T: its shape by (m, n), its type (None: T).
SHAPES = {"weight": (lambda m, n: (n,), None), "bias": (lambda m, n: (n,), None), "mean": (lambda m, n: (m,), "fp32"),
          "rstd": (lambda m, n: (m,), "fp32"), "loss": (lambda m, n: (m,), "fp32"), "lse": (lambda m, n: (m,), "fp32"),
          "q": (lambda m, n: (m, n), "i8"), "e4m3": (lambda m, n: (m, n), "fp8e4nv"),
          "scale": (lambda m, n: (m,), "fp32"), "target": (lambda m, n: (m,), "i32"),
          "dweight": (lambda m, n: (n,), "fp32"),
          "dbias": (lambda m, n: (n,), "fp32"), "dw_parts": (lambda m, n: (parts(n), n), "fp32"),
          "both": (lambda m, n: (2, n), "fp32"), "both_parts": (lambda m, n: (parts(n), 2 * n), "fp32")}
ROWS_OF = {"dweight": ("both", 0), "dbias": ("both", 1)}  # where the kernel has that array
SUMS = ("weight", "bias", "dweight", "dbias")  # a number a column
RANDOM = {"target": "classes", "p": "shares", "logs": "logs"}  # inputs that are not normal
EIGHT_BITS = ("q", "e4m3")
SIZES = {"fp32": 4, "fp16": 2, "bf16": 2, "i32": 4}
TOLERANCES = {"fp32": 2e-5, "fp16": 2e-3, "bf16": 1.6e-2}
LEAST_NORMAL = {"fp32": 2.0**-126, "fp16": 2.0**-14, "bf16": 2.0**-126}  # below, numbers have fewer digits
MOST_SETS = 1024


def softmax(xp, x, axis=1):
    e = xp.exp(x - xp.amax(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


def log_sum_exp(xp, x):
    top = xp.amax(x, axis=1, keepdims=True)
    return top + xp.log(xp.sum(xp.exp(x - top), axis=1, keepdims=True))


def layernorm(xp, x, weight, bias):
    mean = xp.sum(x, axis=1, keepdims=True) / x.shape[1]
    d = x - mean
    rstd = 1 / xp.sqrt(xp.sum(d * d, axis=1, keepdims=True) / x.shape[1] + EPS)
    return d * rstd * weight + bias, mean[:, 0], rstd[:, 0]


def rmsnorm(xp, x, weight):
    rstd = 1 / xp.sqrt(xp.sum(x * x, axis=1, keepdims=True) / x.shape[1] + EPS)
    return x * rstd * weight, rstd[:, 0]


def add_rmsnorm(xp, x, residual, weight):
    h = x + residual
    return rmsnorm(xp, h, weight)[0], h


def softmax_backward(xp, dy, y):
    return (y * (dy - xp.sum(y * dy, axis=1, keepdims=True)),)


def rmsnorm_backward(xp, dy, x, weight, rstd):
    h, g = x * rstd[:, None], dy * weight
    return (g - h * (xp.sum(g * h, axis=1, keepdims=True) / x.shape[1])) * rstd[:, None], xp.sum(dy * h, axis=0)


def add_rmsnorm_backward(xp, dy, x, weight, rstd, dh):
    dx, dweight = rmsnorm_backward(xp, dy, x, weight, rstd)
    return dx + dh, dweight


def layernorm_backward(xp, dy, x, weight, mean, rstd):
    h, g = (x - mean[:, None]) * rstd[:, None], dy * weight
    h = h - xp.sum(h, axis=1, keepdims=True) / x.shape[1]
    level, along = (xp.sum(t, axis=1, keepdims=True) / x.shape[1] for t in (g, g * h))
    return (g - level - h * along) * rstd[:, None], xp.sum(dy * h, axis=0), xp.sum(dy, axis=0)


def gelu(xp, x):
    return (x / 2 * (1 + xp.erf(x / math.sqrt(2))),)


def cross_entropy(xp, x, target):
    lse = log_sum_exp(xp, x)[:, 0]
    rows = xp.cumsum(xp.ones_like(target), 0) - 1  # 0, 1, … where the target is, on a GPU too
    return lse - x[rows, target], lse


def cross_entropy_backward(xp, x, target):
    lse = log_sum_exp(xp, x)
    rows = xp.cumsum(xp.ones_like(target), 0) - 1
    loss, d = lse[:, 0] - x[rows, target], xp.exp(x - lse)
    d[rows, target] -= 1
    return d, loss


def log_softmax_backward(xp, dy, y):
    return (dy - xp.exp(y) * xp.sum(dy, axis=1, keepdims=True),)


def swiglu(xp, gate, up):
    return (gate / (1 + xp.exp(-gate)) * up,)


def in_int8(xp, y):
    top = xp.amax(abs(y), axis=1, keepdims=True)
    return xp.round(y / top * 127), top[:, 0] / 127


def in_e4m3(xp, y):
    top = xp.amax(abs(y), axis=1, keepdims=True)
    return y / top * 448, top[:, 0] / 448


def parts(n):
    """Programs of a norm's backward pass, each of which writes a row of sums."""
    return PLACES[min(8, 1 << (n - 1).bit_length() >> 13) if n > 12288 else 1]


def column_sum(to, sums, times=1):
    return ("column_sum.dsl", lambda b, m, n: (b[to], b[sums], times * n, parts(n), times * n))


KERNELS = {k.name: k for k in (
    Kernel("softmax", "softmax.dsl", ("x",), ("y",), lambda b, m, n: (b["y"], b["x"], n, n, m, n),
           lambda xp, x: (softmax(xp, x),), 1, 1, 0),
    Kernel("softmax_persistent", "softmax_persistent.dsl", ("x",), ("y",), lambda b, m, n: (b["y"], b["x"], n, n, m, n),
           lambda xp, x: (softmax(xp, x),), 1, 1, 0),
    Kernel("softmax_tiled", "softmax_tiled.dsl", ("x",), ("y",), lambda b, m, n: (b["y"], b["x"], n, n, m, n),
           lambda xp, x: (softmax(xp, x),), 1, 1, 0),
    Kernel("softmax_columns", "softmax_columns.dsl", ("x",), ("y",), lambda b, m, n: (b["y"], b["x"], n, n, m, n),
           lambda xp, x: (softmax(xp, x, 0),), 1, 1, 0, True),
    Kernel("log_softmax", "log_softmax.dsl", ("x",), ("y",), lambda b, m, n: (b["y"], b["x"], n, n, m, n),
           lambda xp, x: (x - log_sum_exp(xp, x),), 1, 1),
    Kernel("layernorm", "layernorm.dsl", ("x", "weight", "bias"), ("y", "mean", "rstd"),
           lambda b, m, n: (b["y"], b["mean"], b["rstd"], b["x"], b["weight"], b["bias"], n, n, m, n, EPS), layernorm,
           1, 1),
    Kernel("rmsnorm", "rmsnorm.dsl", ("x", "weight"), ("y", "rstd"),
           lambda b, m, n: (b["y"], b["rstd"], b["x"], b["weight"], n, n, m, n, EPS), rmsnorm, 1, 1),
    Kernel("add_rmsnorm", "add_rmsnorm.dsl", ("x", "residual", "weight"), ("y", "h"),
           lambda b, m, n: (b["y"], b["h"], b["x"], b["residual"], b["weight"], n, n, n, n, m, n, EPS), add_rmsnorm, 2,
           2),
    Kernel("softmax_backward", "softmax_backward.dsl", ("dy", "p"), ("dx",),
           lambda b, m, n: (b["dx"], b["dy"], b["p"], n, n, n, m, n), softmax_backward, 2, 1),
    Kernel("rmsnorm_backward", "rmsnorm_backward.dsl", ("dy", "x", "weight", "rstd"), ("dx", "dweight"),
           lambda b, m, n: (b["dx"], b["dw_parts"], b["dy"], b["x"], b["weight"], b["rstd"], n, n, n, m, parts(n), n),
           rmsnorm_backward, 2, 1, 0.25, True, (column_sum("dweight", "dw_parts"),), ("dw_parts",), ("dh",)),
    Kernel("add_rmsnorm_backward", "rmsnorm_backward.dsl", ("dy", "x", "weight", "rstd", "dh"), ("dx", "dweight"),
           lambda b, m, n: (b["dx"], b["dw_parts"], b["dy"], b["x"], b["weight"], b["rstd"], b["dh"], n, n, n, m,
                            parts(n), n),
           add_rmsnorm_backward, 3, 1, 0.25, True, (column_sum("dweight", "dw_parts"),), ("dw_parts",)),
    Kernel("layernorm_backward", "layernorm_backward.dsl", ("dy", "x", "weight", "mean", "rstd"),
           ("dx", "dweight", "dbias"),
           lambda b, m, n: (b["dx"], b["both_parts"], b["dy"], b["x"], b["weight"], b["mean"], b["rstd"],
                            n, n, n, m, parts(n), n), layernorm_backward, 2, 1, 0.25, True,
           (column_sum("both", "both_parts", 2),), ("both", "both_parts"), ("dh",)),
    Kernel("log_softmax_backward", "log_softmax_backward.dsl", ("dy", "logs"), ("dx",),
           lambda b, m, n: (b["dx"], b["dy"], b["logs"], n, n, n, m, n), log_softmax_backward, 2, 1),
    Kernel("swiglu", "swiglu.dsl", ("gate", "up"), ("y",),
           lambda b, m, n: (b["y"], b["gate"], b["up"], n, n, n, m, n), swiglu, 2, 1),
    Kernel("quantize_int8", "quantize_int8.dsl", ("x",), ("q", "scale"),
           lambda b, m, n: (b["q"], b["scale"], b["x"], n, n, m, n), in_int8, 1, EIGHT_BITS),
    Kernel("quantize_fp8", "quantize_fp8.dsl", ("x",), ("e4m3", "scale"),
           lambda b, m, n: (b["e4m3"], b["scale"], b["x"], n, n, m, n), in_e4m3, 1, EIGHT_BITS),
    Kernel("rmsnorm_int8", "rmsnorm_quantize.dsl", ("x", "weight"), ("q", "scale"),
           lambda b, m, n: (b["q"], b["scale"], b["x"], b["weight"], n, n, m, n, EPS),
           lambda xp, x, weight: in_int8(xp, rmsnorm(xp, x, weight)[0]), 1, EIGHT_BITS),
    Kernel("rmsnorm_fp8", "rmsnorm_quantize.dsl", ("x", "weight"), ("e4m3", "scale"),
           lambda b, m, n: (b["e4m3"], b["scale"], b["x"], b["weight"], n, n, m, n, EPS),
           lambda xp, x, weight: in_e4m3(xp, rmsnorm(xp, x, weight)[0]), 1, EIGHT_BITS),
    Kernel("gelu", "gelu.dsl", ("x",), ("y",), lambda b, m, n: (b["y"], b["x"], m * n), gelu, 1, 1),
    Kernel("cross_entropy", "cross_entropy.dsl", ("x", "target"), ("loss", "lse"),
           lambda b, m, n: (b["loss"], b["lse"], b["x"], b["target"], n, m, n, -100, 0.0), cross_entropy, 1, 0),
    Kernel("cross_entropy_backward", "cross_entropy_backward.dsl", ("x", "target"), ("x", "loss"),
           lambda b, m, n: (b["loss"], b["x"], b["target"], n, m, n, -100, 0.0, 1.0), cross_entropy_backward, 1, 1),
)}


class Case:
    """A kernel at one size, with `count` sets of its memory: case.sets[i][name] is an array of the machine's."""

    def __init__(self, machine, point):
        self.machine, self.kernel = machine, KERNELS[point.kernel]
        self.rows, self.n, self.dtype = point.rows, point.n, point.dtype
        self.bytes = self.kernel.reads * self.rows * self.n * SIZES[self.dtype] + self.written()
        self.sets = [self.make_set()]

    def written(self):
        """Bytes of the matrices that are written."""
        writes = self.kernel.writes
        return self.rows * self.n * (1 if writes == EIGHT_BITS else writes * SIZES[self.dtype])

    def sources(self):
        """What is read, by name: of an input that is written in place, what it was before."""
        return [f"{name}_before" if name in self.kernel.outputs else name for name in self.kernel.inputs]

    def moved(self):
        """The matrices that are written and those that are read, by name."""
        names = [name for name in (*self.kernel.outputs, *self.sources()) if len(self.sets[0][name].shape) == 2]
        return names[:self.kernel.writes], names[self.kernel.writes:]

    def in_place(self):
        """(input, what it was before) by name, of those that are written in place."""
        return [pair for pair in zip(self.kernel.inputs, self.sources()) if pair[0] != pair[1]]

    def restore(self):
        """Queues that the first set's inputs are what they were, where a launch writes over them."""
        for name, before in self.in_place():
            self.machine.copy(self.sets[0][name], self.sets[0][before])()

    def make_set(self):
        arrays = {}
        for name in dict.fromkeys((*self.kernel.inputs, *self.kernel.scratch, *self.kernel.outputs)):
            whole, row = ROWS_OF.get(name, (None, 0))
            if whole in arrays:
                arrays[name] = self.machine.row(arrays[whole], row)
                continue
            shape, dtype = SHAPES.get(name, (lambda m, n: (m, n), None))
            arrays[name] = self.machine.array(shape(self.rows, self.n), dtype or self.dtype)
        for name in self.kernel.inputs:
            self.machine.randomize(arrays[name], RANDOM.get(name, "normal"), self.n)
        if "rstd" in self.kernel.inputs:
            self.fill_statistics(arrays)
        for name, before in self.in_place():
            arrays[before] = self.machine.array(arrays[name].shape, arrays[name].dtype)
            self.machine.copy(arrays[before], arrays[name])()
        return arrays

    def fill_statistics(self, arrays):
        """mean and rstd as the forward pass stores them, with this x."""
        x = self.machine.numbers(arrays["x"], 1)
        if "mean" in arrays:
            _, mean, rstd = layernorm(self.machine.xp, x, 1.0, 0.0)
            self.machine.write(arrays["mean"], mean)
        else:
            _, rstd = rmsnorm(self.machine.xp, x, 1.0)
        self.machine.write(arrays["rstd"], rstd)

    def rotate(self, total):
        """As many sets as hold `total` bytes, or for the smallest cases MOST_SETS."""
        while len(self.sets) * self.bytes < total and len(self.sets) < MOST_SETS:
            self.sets.append(self.make_set())

    def args(self, i=0):
        return self.kernel.args(self.sets[i], self.rows, self.n)

    def tensors(self, i=0):
        """The set's arrays as torch has them, by name."""
        return {name: array.tensor for name, array in self.sets[i].items()}

    def poison(self):
        """No output is a number, but where it is an input, too."""
        for name in self.kernel.outputs:
            self.machine.poison(self.sets[0][name])
        self.restore()

    def numbers(self, name, array):
        """An array in float64, as many of its rows as are compared."""
        is_whole = self.kernel.whole_columns or name in SUMS
        return self.machine.numbers(array, 1 if is_whole else self.machine.check_step(self.rows, self.n))

    def wants(self):
        return self.kernel.formula(self.machine.xp,
                                   *(self.numbers(name, self.sets[0][name]) for name in self.sources()))

    def complaint(self, wants, outputs, times):
        """What is wrong with the first set's outputs (or with those a peer gave back), or None."""
        if outputs is None:
            outputs = [self.sets[0][name] for name in self.kernel.outputs]
        for name, want, output in zip(self.kernel.outputs, wants, outputs):
            got = self.numbers(name, output)
            if not bool(self.machine.xp.isfinite(got).all()):
                return f"{name}: not finite"
            size = abs(want)
            if name in EIGHT_BITS:  # one step, as a tie may be rounded the other way
                steps = float((abs(got - want) / (1 if name == "q" else size / 8 + 2.0**-9)).max())
                if not steps <= 1:
                    return f"{name}: off by {steps:.2g} steps"
                continue
            scale = size.clip(LEAST_NORMAL[self.dtype]) + self.kernel.slack * float(size.max())
            error = float((abs(got - want) / scale).max())
            if not error <= TOLERANCES[self.dtype] * times:
                return f"{name}: off by {error:.2e}"
        return None
