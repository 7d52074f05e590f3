"""expressions.py - random expressions of a wanted type and shape, well defined by construction or nearly so.

In: a random.Random, the program being built, the names in scope. Out: Nodes; names and loads that an expression needs
are put into the current block before it.
Method: by type and shape, downwards, with a depth to stop. Flags travel with each node: `wide` (its exact form may
differ from its value), `open` (that form is left open by the language), `product` (a float product, not to be added: it
could be fused). What little stays undefined the evaluator refuses, and the kernel is drawn again.
"""
from nodes import BITS, FLOATS, INTS, Node, is_float, is_signed, limits

FLAGS = ("wide", "open", "product")
CONSTANTS = [0.5, -1.25, 3.0, 2.0, 0.0, -0.75, 1.0, 1.5, -8.0, 0.0625]


def power_of_two(rng, top):
    return 1 << rng.randint(0, top)


class Expressions:
    def __init__(self, rng, program):
        self.rng, self.p, self.mode = rng, program, program.mode
        self.scope, self.block, self.names = [], None, 0
        self.in_function = False

    # ---- Making nodes ------------------------------------------------------------------------------------------------

    def mk(self, kind, kids, dtype, shape, **a):
        n = Node(kind, kids, dtype, shape, **a)
        flags = {f: any(k is not None and k.a.get(f) for k in kids) for f in FLAGS}
        if kind in ("bin", "cmp", "load", "reduce", "cast", "abs", "fma", "math", "div", "not", "logic", "dot"):
            flags = dict.fromkeys(FLAGS, False)
        if kind == "bin" and n.a["op"] in "+-*" and not is_float(dtype):
            flags["wide"], flags["open"] = True, any(k.a.get("open") for k in kids)
        if kind == "bin" and n.a["op"] == "%" and is_signed(dtype):
            flags["wide"] = flags["open"] = any(k.a.get("wide") for k in kids)
        if kind == "bin" and n.a["op"] == "*" and is_float(dtype):
            flags["product"] = True
        if (kind in ("neg", "abs", "power", "reduce", "clamp", "where", "pair", "choice", "cdiv") and
            not is_float(dtype) and dtype != "i1"):
            flags["wide"] = flags["open"] = True
        if (kind == "cast" and not is_float(dtype) and BITS[dtype] >= BITS[kids[0].dtype] and
            not is_float(kids[0].dtype)):
            flags["wide"] = kids[0].a.get("wide", False)
            flags["open"] = kids[0].a.get("open", False) or (flags["wide"] and BITS[dtype] == BITS[kids[0].dtype])
        n.a.update({f: True for f, on in flags.items() if on})
        if kind == "bin" and is_float(dtype) and a["op"] in "+-":
            assert not any(k.a.get("product") for k in kids), "a product in a sum, which may be fused"
        return n

    def var(self, v):
        n = Node("var", (), v["dtype"], v["shape"], name=v["name"])
        n.a.update({f: True for f in FLAGS if v.get(f)})
        return n

    def const(self, value, dtype):
        return Node("const", (), dtype, (), value=value)

    def fresh(self, prefix="t"):
        self.names += 1
        return f"{prefix}_{self.names}"

    def declare(self, name, n, **more):
        v = dict(name=name, dtype=n.dtype, shape=n.shape, **{f: n.a.get(f, False) for f in FLAGS}, **more)
        self.scope.append(v)
        return v

    def spill(self, n, prefix="t"):
        """The expression under a name, assigned just before."""
        if self.block is None or n.kind in ("var", "const"):
            return n
        name = self.fresh(prefix)
        self.block.append(Node("let", [n], name=name))
        return self.var(self.declare(name, n))

    def settle(self, n, always=False):
        """n with a defined exact form."""
        if n.a.get("open") or (n.a.get("wide") and (always or self.rng.random() < 0.3)):
            return self.mk("bin", [n, self.const(0, n.dtype)], n.dtype, n.shape, op=self.rng.choice("|^"))
        return n

    def unfused(self, n):
        return self.mk("abs", [n], n.dtype, n.shape) if n.a.get("product") else n

    def number(self, dtype):
        if is_float(dtype):
            return self.rng.choice(CONSTANTS)
        if dtype == "i1":
            return self.rng.random() < 0.5
        lo, hi = limits(dtype)
        value = self.rng.choice([0, 1, 2, 3, 5, 7, 10, 31, 100, -1, -2, -7, hi, lo, hi - 1, self.rng.randint(lo, hi)])
        return max(lo + (dtype == "i64"), min(hi, value))

    # ---- Shapes ------------------------------------------------------------------------------------------------------

    def lesser(self, shape):
        """A shape that broadcasts to `shape`."""
        r = self.rng.random()
        if r < 0.55 or not shape:
            return shape
        if r < 0.7:
            return ()
        if r < 0.85:
            return tuple(1 if self.rng.random() < 0.5 else d for d in shape)
        return shape[self.rng.randint(0, len(shape)):]

    def two(self, dtype, shape, d, other=None):
        """Two operands; at least one has the shape, the other may be a literal of its type."""
        a = self.gen(dtype, shape, d - 1)
        if self.rng.random() < 0.25:
            b = self.const(self.number(dtype), dtype)
        else:
            b = self.gen(other or dtype, self.lesser(shape), d - 1)
        return (b, a) if self.rng.random() < 0.4 else (a, b)

    def index(self, n, axis, rank):
        """A rank-1 tile as dimension `axis` of `rank`."""
        if rank == 1:
            return n
        if rank == 2 and self.rng.random() < 0.3:
            return self.mk("expand", [n], n.dtype, (1,) * axis + n.shape + (1,) * (1 - axis), axis=1 - axis)
        shape = tuple(n.shape[0] if k == axis else 1 for k in range(rank))
        if self.rng.random() < 0.15:
            return self.mk("reshape", [n], n.dtype, shape, form=self.rng.choice(["reshape", "view"]))
        return self.mk("index", [n], n.dtype, shape, new=[k != axis for k in range(rank)])

    def arange(self, size, start=0):
        name = next((n for n, v in self.p.consts if v == start + size), None) if not self.in_function else None
        n = Node("arange", (), "i32", (size,), start=start)
        if name and self.rng.random() < 0.5:
            n.a["name"] = name
        return n

    # ---- Any type ----------------------------------------------------------------------------------------------------

    def gen(self, dtype, shape, d):
        shape = tuple(shape)
        if d <= 0 or self.rng.random() < 0.1:
            return self.terminal(dtype, shape)
        if self.rng.random() < 0.12:
            n = self.reshaping(dtype, shape, d)
        elif self.rng.random() < 0.1:
            n = self.calls(dtype, shape, d)
        else:
            n = (self.floats(dtype, shape, d) if is_float(dtype) else self.truth(shape, d) if dtype == "i1"
                 else self.ints(dtype, shape, d))
        if n.kind != "const" and self.rng.random() < 0.2:
            n = self.spill(n)
        return n

    def terminal(self, dtype, shape):
        known = [v for v in self.scope if v["dtype"] == dtype and v["shape"] == shape]
        r = self.rng.random()
        if known and r < 0.6:
            return self.var(self.rng.choice(known))
        if r < 0.8 and not self.in_function:
            return self.load(dtype, shape)
        if dtype == "i1":
            return self.mk("cmp", [self.terminal("i32", shape), self.const(self.number("i32"), "i32")], "i1", shape,
                           op=self.rng.choice(["<", ">=", "!="]))
        if dtype == "i32" and shape and r < 0.93:
            axis = self.rng.randrange(len(shape))
            n = self.index(self.arange(shape[axis], self.rng.choice([0, 0, 1, 5])), axis, len(shape))
            return n if n.shape == shape else self.mk("broadcast", [n], dtype, shape)
        if self.rng.random() < 0.2 and shape:
            return Node("zeros", (), dtype, shape)
        return Node("full", (), dtype, shape, value=self.number(dtype))

    def reshaping(self, dtype, shape, d):
        r = self.rng.random()
        if 1 in shape and r < 0.5:
            axis = self.rng.choice([k for k, s in enumerate(shape) if s == 1])
            rest = shape[:axis] + shape[axis + 1:]
            n = self.gen(dtype, rest, d - 1)
            if not rest:
                return self.mk("fullv", [self.settle(n)], dtype, shape)
            if r < 0.2:
                return self.mk("expand", [n], dtype, shape, axis=axis)
            if r < 0.3:
                return self.mk("reshape", [n], dtype, shape)
            return self.mk("index", [n], dtype, shape, new=[k == axis for k in range(len(shape))])
        part = self.lesser(shape)
        if not shape or part == shape:
            return self.mk("like", [self.gen(dtype, shape, 0)], dtype, shape) if r > 0.9 else self.gen(dtype, shape,
                                                                                                       d - 1)
        n = self.gen(dtype, part, d - 1)
        if not part:
            return self.mk("fullv", [self.settle(n)], dtype, shape)
        return self.mk("broadcast", [n], dtype, shape)

    def calls(self, dtype, shape, d):
        fits = [f for f in self.p.functions if len(f["results"]) == 1 and
                (f["results"][0].dtype, f["results"][0].shape) == (dtype, shape)]
        if not fits or self.in_function:
            return self.gen(dtype, shape, d - 1)
        f = self.rng.choice(fits)
        n = self.mk("call", self.arguments(f, d), dtype, shape, function=f["name"])
        n.a.update(wide=not is_float(dtype))
        return n

    def arguments(self, f, d):
        return [self.unfused(self.settle(self.gen(t, s, d - 1))) for _, t, s in f["params"]]

    def reduction(self, dtype, sources, shape, d, op):
        """Of one more dimension, or of all."""
        size = self.rng.choice([1, 2, 4, 8, 16, 32])
        while size > 1 and size * self.numel(shape) > 512:
            size //= 2
        axis, keep = self.rng.randint(0, len(shape)), False
        inner = shape[:axis] + (size,) + shape[axis:]
        if shape and 1 in shape and self.rng.random() < 0.5:
            axis, keep = shape.index(1), True
            inner = shape[:axis] + (size,) + shape[axis + 1:]
        where = axis if self.rng.random() < 0.85 else axis - len(inner)
        if not shape and self.rng.random() < 0.5:
            where, inner = None, (size, 4) if self.rng.random() < 0.5 else (size,)
        if len(inner) > 3:
            return self.terminal(dtype, shape)
        n = self.mk("reduce", [self.settle(self.gen(self.rng.choice(sources), inner, d - 1))], dtype, shape, op=op,
                    axis=where, keep=keep)
        n.a.update(method=self.rng.random() < 0.2, tl=self.rng.random() < 0.2)
        if n.a["method"] and where is None:
            n.a["method"] = False
        return n

    def numel(self, shape):
        count = 1
        for s in shape:
            count *= s
        return count

    def choose(self, dtype, shape, d):
        """where, or `a if c else b` of scalars."""
        a, b = self.two(dtype, shape, d)
        if a.kind == "const" and b.kind == "const":
            b = self.terminal(dtype, shape)
        if not shape and self.rng.random() < 0.5:
            return self.mk("choice", [self.gen("i1", (), d - 1), a, b], dtype, shape)
        return self.mk("where", [self.gen("i1", self.lesser(shape), d - 1), a, b], dtype, shape)

    # ---- Integers ----------------------------------------------------------------------------------------------------

    def narrower(self, dtype, same_sign=False):
        """A type that meets `dtype` in `dtype`."""
        fits = [t for t in INTS if BITS[t] < BITS[dtype] and (not same_sign or is_signed(t) == is_signed(dtype))]
        return self.rng.choice(fits + [dtype] * 4)

    def ints(self, dtype, shape, d):
        rng, r = self.rng, self.rng.random()
        if r < 0.03 and self.parameters():
            return self.specialised(dtype, shape)
        if r < 0.28:
            a, b = self.two(dtype, shape, d, self.narrower(dtype))
            return self.mk("bin", [a, b], dtype, shape, op=rng.choice("++--*"))
        if r < 0.38:
            a, b = self.two(dtype, shape, d, self.narrower(dtype))
            return self.mk("bin", [a, b], dtype, shape, op=rng.choice("&|^"))
        if r < 0.46:
            return self.shift(dtype, shape, d)
        if r < 0.56:
            return self.quotient(dtype, shape, d)
        if r < 0.64:
            return self.choose(dtype, shape, d)
        if r < 0.66:
            return self.mixed_pair(dtype, shape, d)
        if r < 0.70:
            a, b = self.two(dtype, shape, d)
            return self.mk("pair", [self.settle(a), self.settle(b)], dtype, shape,
                           op=rng.choice(["maximum", "minimum", "max", "min"]))
        if r < 0.80:
            source = rng.choice(INTS + ["i1", "i32", "i32"] + (["fp32", "fp16"] if self.mode == "float" else []))
            if is_float(source):
                return self.truncated(source, dtype, shape, d)
            return self.mk("cast", [self.gen(source, shape, d - 1)], dtype, shape, form=rng.random() < 0.3)
        if r < 0.86:
            kind = rng.choice(["neg", "abs", "not", "power", "clamp"])
            x = self.settle(self.gen(dtype, shape, d - 1))
            if kind == "clamp":
                lo, hi = sorted((self.number(dtype), self.number(dtype)))
                return self.mk("clamp", [x, self.const(lo, dtype), self.const(hi, dtype)], dtype, shape)
            return self.mk(kind, [x], dtype, shape, **({"exponent": rng.choice([2, 3, 4])} if kind == "power" else {}))
        if r < 0.94 and dtype in ("i32", "u32", "i64", "u64"):
            return self.reduced(dtype, shape, d)
        if r < 0.97 and dtype == "i32" and len(shape) in (2, 3):
            return self.product(shape, d)
        return self.terminal(dtype, shape)

    def product(self, shape, d):
        """Of matrices of bytes, mostly with an accumulator; one of them now and then computed or transposed."""
        rng, (m, n), lead = self.rng, shape[-2:], shape[:-2]
        k = rng.choice([1, 2, 4, 8, 16, 32])
        while k > 1 and k * max(m, n) * self.numel(lead) > 512:
            k //= 2
        x, y = (self.gen(rng.choice(["i8", "u8"]), lead + s, d - 1) for s in ((m, k), (k, n)))
        kids = [x, y] + ([self.settle(self.gen("i32", shape, d - 1))] if rng.random() < 0.6 else [])
        if any(z.kind == "const" for z in kids):
            return self.terminal("i32", shape)
        return self.mk("dot", kids, "i32", shape, method=rng.random() < 0.3)

    def mixed_pair(self, dtype, shape, d):
        """The larger of a signed and an unsigned integer is unsigned, the smaller signed."""
        u, word = f"u{BITS[dtype]}", "min" if is_signed(dtype) else "max"
        other = self.rng.choice([t for t in INTS if is_signed(t) and BITS[t] <= BITS[dtype]])
        kids = [self.settle(self.gen(u, shape, d - 1), True),
                self.settle(self.gen(other, self.lesser(shape), d - 1), True)]
        if any(k.kind == "const" for k in kids):
            return self.terminal(dtype, shape)
        self.rng.shuffle(kids)
        return self.mk("pair", kids, dtype, shape, op=self.rng.choice([word, word + "imum"]))

    def parameters(self):
        """i32 parameters in scope: a launch may compile for their values, which must change nothing."""
        return [v for v in self.scope if v.get("parameter") and v["dtype"] == "i32"]

    def specialised(self, dtype, shape):
        rng, n = self.rng, self.var(self.rng.choice(self.parameters()))
        n = self.mk("bin", [n, self.const(rng.choice([-8, -2, 7, 300]), "i32")], "i32", (), op=rng.choice("+*^"))
        if rng.random() < 0.6:
            n = self.mk("bin", [self.settle(n), self.const(rng.choice([2, 3, 7]), "i32")], "i32", (),
                        op=rng.choice(["//", "%"]))
        n = self.settle(n) if dtype == "i32" else self.mk("cast", [self.settle(n, True)], dtype, ())
        return n if not shape else self.mk("fullv", [self.settle(n)], dtype, shape)

    def shift(self, dtype, shape, d):
        a, op = self.gen(dtype, shape, d - 1), self.rng.choice(["<<", ">>"])
        bits = BITS[dtype]
        if self.rng.random() < 0.5:
            b = self.const(self.rng.randrange(bits), dtype)
        else:
            b = self.mk("bin", [self.gen(dtype, self.lesser(shape), d - 1), self.const(bits - 1, dtype)], dtype, None,
                        op="&")
            b.shape = b.kids[0].shape
        return self.mk("bin", [a, b], dtype, shape, op=op)

    def quotient(self, dtype, shape, d):
        rng = self.rng
        a, r = self.gen(dtype, shape, d - 1), rng.random()
        if r < 0.1:
            small = self.mk("bin", [a, self.const(63, dtype)], dtype, shape, op="&")
            return self.mk("cdiv", [small, self.const(rng.choice([1, 2, 3, 7, 64]), dtype)], dtype, shape)
        if r < 0.4:
            b = self.const(rng.choice([1, 2, 3, 4, 5, 7, 10, 16, 64, 100] +
                                      ([-2, -3, -16] if is_signed(dtype) else [])), dtype)
        else:
            t = self.narrower(dtype, True)
            x = self.gen(t, self.lesser(shape), d - 1)
            mask = self.const(rng.choice([7, 63, 31]), t)
            b = self.mk("bin", [self.mk("bin", [x, mask], t, x.shape, op="&"), self.const(rng.choice([1, 2, 5]), t)], t,
                        x.shape, op="+")
            if r > 0.85 and is_signed(t):
                b = self.mk("bin", [self.mk("bin", [x, mask], t, x.shape, op="&"), self.const(-65, t)], t, x.shape,
                            op="+")
        return self.mk("bin", [a, b], dtype, shape, op=rng.choice(["//", "%"]))

    def reduced(self, dtype, shape, d):
        op = self.rng.choice(["sum", "max", "min"])
        sources = {"i32": ["i8", "i16", "i32", "i32"], "u32": ["u8", "u16", "u32"] if op == "sum" else ["u32"],
                   "i64": ["i64"], "u64": ["u64"]}[dtype]
        if dtype == "i64" and op == "sum" and self.rng.random() < 0.5:
            n = self.reduction(dtype, ["i8", "i32", "u32", "u8"], shape, d, op)
            if n.kind == "reduce":
                n.a["typed"] = True
            return n
        return self.reduction(dtype, sources, shape, d, op)

    def truth(self, shape, d):
        rng, r = self.rng, self.rng.random()
        if r < 0.6:
            t = (rng.choice(["i32", "i32", "i32"] + INTS) if self.mode == "int" or rng.random() < 0.3
                 else rng.choice(FLOATS))
            other = t if is_float(t) else rng.choice([t, t, rng.choice(INTS)])
            a, b = self.two(t, shape, d, other)
            return self.mk("cmp", [self.settle(a), self.settle(b)], "i1", shape,
                           op=rng.choice(["<", "<=", ">", ">=", "==", "!="]))
        if r < 0.8:
            a, b = self.gen("i1", shape, d - 1), self.gen("i1", self.lesser(shape), d - 1)
            return self.mk("bin", [a, b], "i1", shape, op=rng.choice("&|^"))
        if r < 0.9:
            return self.mk("not", [self.gen("i1", shape, d - 1)], "i1", shape)
        if r < 0.95 and not shape:
            return self.mk("logic", [self.gen("i1", (), d - 1), self.gen("i1", (), 0)], "i1", (),
                           op=rng.choice(["and", "or"]))
        return self.mk("cast", [self.gen(rng.choice(INTS), shape, d - 1)], "i1", shape)
