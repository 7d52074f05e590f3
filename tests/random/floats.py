"""floats.py - random float expressions: exact ones for anywhere, inexact ones (with a tolerance) for a store alone.

In and out: as expressions.py. + - * fma, casts, max, min, where and comparisons are exact; / exp log sqrt sum are not.
A product is never an operand of + or -, since the compiler may fuse it: it goes through abs first.
"""
from expressions import Expressions
from nodes import BITS, FLOATS, is_signed


class FloatExpressions(Expressions):
    def floats(self, dtype, shape, d):
        rng, r = self.rng, self.rng.random()
        if r < 0.40:
            a, b = self.two(dtype, shape, d, self.lower(dtype))
            op = rng.choice("++--*")
            if op != "*":
                a, b = self.unfused(a), self.unfused(b)
            return self.mk("bin", [a, b], dtype, shape, op=op)
        if r < 0.50 and dtype in ("fp32", "fp64"):
            if self.numel(shape) > 64 and dtype == "fp64":
                return self.terminal(dtype, shape)
            return self.mk("fma", [self.gen(dtype, shape, d - 1) for _ in range(3)], dtype, shape)
        if r < 0.60:
            return self.choose(dtype, shape, d)
        if r < 0.70:
            a, b = self.two(dtype, shape, d)
            return self.mk("pair", [a, b], dtype, shape, op=rng.choice(["maximum", "minimum", "max", "min"]), nan=False)
        if r < 0.74:
            a, b = self.two(dtype, shape, d)
            return self.mk("pair", [a, b], dtype, shape, op=rng.choice(["maximum", "minimum"]), nan=True)
        if r < 0.84:
            return self.cast_to(dtype, shape, d)
        if r < 0.90:
            x = self.gen(dtype, shape, d - 1)
            kind = rng.choice(["neg", "abs", "clamp"])
            if kind == "clamp":
                return self.mk("clamp", [self.no_nan(x), self.const(-1.5, dtype), self.const(2.0, dtype)], dtype, shape)
            return self.mk(kind, [x], dtype, shape)
        if r < 0.96 and dtype in ("fp32", "fp64"):
            n = self.reduction(dtype, ["fp16", "bf16", "fp32"] if dtype == "fp32" else ["fp64"], shape, d,
                               rng.choice(["max", "min"]))
            if n.kind == "reduce":
                n.a["nan"] = rng.random() < 0.4
            return n
        return self.terminal(dtype, shape)

    def lower(self, dtype):
        fits = {"fp16": ["fp16"], "bf16": ["bf16"], "fp32": ["fp16", "bf16", "fp32", "fp32"],
                "fp64": FLOATS + ["fp64"] * 3}
        return self.rng.choice(fits[dtype])

    def cast_to(self, dtype, shape, d):
        rng = self.rng
        if rng.random() < 0.3:
            source = rng.choice(["i8", "u8"] if dtype == "fp16" else ["i8", "i32", "u32", "i64", "u64", "i1", "i16"])
            return self.mk("cast", [self.gen(source, shape, d - 1)], dtype, shape)
        if rng.random() < 0.15 and dtype == "fp32":
            x = self.gen("i32", shape, d - 1)  # every exponent that stays clear of NaN
            x = self.mk("bin", [x, self.const(0x3FFFFFFF, "i32")], "i32", shape, op="&")
            return self.mk("cast", [x], dtype, shape, options=", bitcast=True", bits=True)
        n = self.mk("cast", [self.gen(rng.choice(FLOATS), shape, d - 1)], dtype, shape, form=rng.random() < 0.2)
        source = n.kids[0].dtype
        if BITS[dtype] < BITS[source] and not n.a["form"] and rng.random() < 0.2:
            n.a.update(options=', fp_downcast_rounding="rtz"', rounding="rtz")
        n.a["product"] = bool(n.kids[0].a.get("product") and source == dtype)
        return n

    def no_nan(self, x):
        x = self.spill(x)
        same = self.mk("cmp", [x, x], "i1", x.shape, op="==")
        return self.mk("where", [same, x, self.const(1.0, x.dtype)], x.dtype, x.shape)

    def truncated(self, source, dtype, shape, d):
        """A float cast to an integer, within the range of both."""
        x = self.no_nan(self.gen(source, shape, d - 1))
        lo, hi = (-100.0, 100.0) if is_signed(dtype) else (0.25, 200.0)
        x = self.mk("clamp", [x, self.const(lo, source), self.const(hi, source)], source, shape)
        return self.mk("cast", [x], dtype, shape)

    def ranged(self, dtype, shape, d, lo, hi, positive):
        x = self.no_nan(self.gen(dtype, shape, d))
        if positive:
            x = self.mk("abs", [x], dtype, shape)
        return self.mk("clamp", [x, self.const(lo, dtype), self.const(hi, dtype)], dtype, shape)

    def inexact(self, dtype, shape, d):
        """A value with a tolerance: to be stored, and nothing else."""
        rng, r = self.rng, self.rng.random()
        if r < 0.35:
            op = rng.choice(["exp", "exp2", "log", "log2", "sqrt", "rsqrt"])
            x = self.ranged(dtype, shape, d - 1,
                            *((-8.0, 8.0, False) if op.startswith("exp") else (0.0078125, 1000.0, True)))
            n = self.mk("math", [x], dtype, shape, op=rng.choice(["", "", "tl.math."]) + op)
            n.a["op"] = op
        elif r < 0.6 and dtype in ("fp32", "fp64"):
            divisor = self.ranged(dtype, self.lesser(shape), d - 1, 0.25, 64.0, True)
            n = self.mk("div", [self.gen(dtype, shape, d - 1), divisor], dtype, shape, form=rng.random() < 0.3)
        else:
            n = self.reduction(dtype, [dtype], shape, d, "sum")
        if rng.random() < 0.3:
            other = self.const(rng.choice([0.5, 2.0, -1.5]), dtype)
            n = self.mk("bin", [self.unfused(n), other], dtype, shape, op=rng.choice("+-*"))
        if rng.random() < 0.2:
            n = self.mk("where", [self.gen("i1", self.lesser(shape), 1), n, self.const(0.5, dtype)], dtype, shape)
        return n
