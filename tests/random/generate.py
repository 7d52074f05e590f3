"""generate.py - a random kernel from a seed: buffers, addresses, masks, statements, functions, grid.

In: a 64-bit seed and a mode, "int" or "float". Out: make(seed, mode), a Program that the evaluator finds well defined.
Method: statements one after the other with the names in scope; every store has cells of its own per program and
element, every load stays within its buffer where its mask is true. A kernel that turns out undefined is drawn again,
from (seed, attempt), so that a seed is one kernel everywhere.
"""
import random

import numpy as np

from evaluate import Evaluator, Undefined
from functions import image
from nodes import FLOATS, INTS, Buffer, Node, Program, is_float, limits
from numeric import round_to
from products import Products

SHAPES = [(), (1,), (2,), (8,), (16,), (32,), (64,), (128,), (256,), (4, 8), (8, 4), (16, 16), (2, 32), (1, 64),
          (32, 1), (8, 32), (2, 4, 8), (4, 1, 16), (2, 2, 2), (1, 8, 4), (4, 8, 8)]
GRIDS = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (5, 1, 1), (7, 1, 1), (3, 2, 1), (2, 3, 1), (2, 2, 2), (1, 2, 3)]


def make(seed, mode):
    return made(seed, mode)[0]


def made(seed, mode):
    """The kernel, and what it leaves in memory."""
    for attempt in range(200):
        p = Generator(random.Random(f"{mode} {seed} {attempt}"), Program(seed, mode)).program()
        try:
            return p, Evaluator(p).run()
        except Undefined:
            continue
    raise RuntimeError(f"seed {seed}: no well-defined kernel in 200 attempts")


class Generator(Products):
    # ---- Buffers and addresses ---------------------------------------------------------------------------------------

    def buffer(self, dtype, role):
        """A buffer for loads (shared by them) or for stores, with the pointer parameter that leads to it."""
        known = [b for b in self.p.buffers if b.dtype == dtype and b.role == role]
        if known and (self.rng.random() < 0.6 or len(known) > 1):
            return self.rng.choice(known)
        name = {"in": "x", "out": "y", "both": "z"}[role] + str(len(self.p.buffers))
        b = Buffer(name, dtype, self.rng.choice([1, 7, 33, 64, 100, 129, 255, 300]) if role == "in" else 0, role)
        b.offset = self.rng.choice([0, 0, 0, 1, 2, 3, 4, 7])
        self.p.buffers.append(b)
        self.p.pointers.append((name, name, role == "in" and self.rng.random() < 0.3))
        return b

    def pointer(self, b):
        return Node("ptr", (), f"ptr:{b.name}", (),
                    name=self.rng.choice([n for n, of, _ in self.p.pointers if of == b.name]))

    def scalar(self, dtype, value):
        for n, t, v in self.p.scalars:
            if t == dtype and v is value and self.rng.random() < 0.5:
                return Node("var", (), dtype, (), name=n)
        name = f"n{len(self.p.scalars)}"
        self.p.scalars.append((name, dtype, value))
        return Node("var", (), dtype, (), name=name)

    def i32(self, op, a, b):
        shape = np.broadcast_shapes(a.shape, b.shape)
        return self.mk("bin", [a, b], "i32", shape, op=op)

    def lit(self, value):
        return self.const(value, "i32")

    def flat(self, shape, kind):
        """Element numbers of a tile in some order, and how many there are."""
        order = list(range(len(shape)))
        if kind == "transposed":
            self.rng.shuffle(order)
        terms, stride = [], 1
        for axis in reversed(order):
            step = 0 if kind == "repeated" and self.rng.random() < 0.5 else stride
            if shape[axis] > 1 or self.rng.random() < 0.2:
                t = self.index(self.arange(shape[axis]), axis, len(shape))
                terms.append(t if step == 1 else self.i32("*", t, self.lit(step)))
            stride *= shape[axis] + (1 if kind == "padded" and axis != order[0] else 0)
        if not terms:
            return None, 1
        n = terms.pop()
        while terms:
            n = self.i32("+", n, terms.pop())
        return n, stride

    def places(self, shape, unique):
        """An i32 index per program and element, as [scalar part, tile part], and the least count that holds it."""
        rng, programs = self.rng, self.programs
        kind = rng.choice(["plain", "plain", "plain", "transposed", "padded", "interleaved", "strided", "reversed",
                           "scrambled", "flipped"]
                          + ([] if unique else ["repeated", "same"]))
        tile, size = self.flat(shape, kind)
        pid, total = self.var(self.pid), size * programs
        if kind == "interleaved" and tile is not None:
            return [pid, self.i32("*", tile, self.lit(programs))], total
        if kind == "same" and tile is not None:
            return [tile], size
        row = self.i32("*", pid, self.lit(size)) if size > 1 else pid
        if rng.random() < 0.2 and size % 16 == 0:
            row = (self.mk("hint", [row], "i32", (), op="multiple_of", value=rng.choice([4, 16])) if rng.random() < 0.6
                   else self.mk("hint", [row], "i32", (), op=rng.choice(["max_contiguous", "max_constancy"]), value=1))
        if tile is None:
            tile = self.lit(0)
        if kind == "strided":
            s, c = rng.choice([2, 3, 5]), rng.choice([0, 1, 4])
            return [self.i32("*", row, self.lit(s)),
                    self.i32("+", self.i32("*", tile, self.lit(s)) if tile.shape else tile, self.lit(c)) if tile.shape
                    else self.lit(c)], total * s + c
        whole = self.i32("+", row, tile) if tile.shape else row
        if kind == "reversed":
            return [self.i32("-", self.lit(total - 1), whole)], total
        power = 1 << max(total - 1, 1).bit_length()
        if kind == "scrambled":
            n = self.i32("+", self.i32("*", whole, self.lit(rng.choice([3, 5, 7, 11]))),
                         self.lit(rng.choice([0, 1, 9])))
            return [self.i32("&", n, self.lit(power - 1))], power
        if kind == "flipped":
            return [self.i32("^", whole, self.lit(rng.randrange(power)))], power
        return [row, tile] if tile.shape else [row], total

    def address(self, b, parts, base=0):
        """The pointer to b's element base + sum of parts, and that index as one expression."""
        rng = self.rng
        parts = parts + ([self.lit(base)] if base else [])
        index = parts[0]
        for k in parts[1:]:
            index = self.i32("+", index, k)
        p = self.pointer(b)
        if rng.random() < 0.5 and index.kind != "const":
            index = self.spill(index, "i")
            return self.mk("add", [p, index], p.dtype, index.shape), index
        if rng.random() < 0.2 and len(parts) > 1:
            parts = list(reversed(parts))
        for k, part in enumerate(parts):
            p = self.mk("add", [p, part], p.dtype, np.broadcast_shapes(p.shape, part.shape))
            if k == 0 and rng.random() < 0.3:
                p = self.spill(p, "p")
                self.scope[-1]["dtype"] = p.dtype
        return p, index

    def load(self, dtype, shape):
        rng, b = self.rng, self.buffer(dtype, "in")
        self.reads += 1
        mask = other = None
        if rng.random() < 0.15 and shape:
            bits = rng.choice([15, 63, 127])
            at = self.i32("&", self.gen("i32", shape, 1), self.lit(bits))
            parts, count = [at], bits + 1
        else:
            parts, count = self.places(shape, False)
        kind = rng.random()
        if kind < 0.4:
            b.count = max(b.count, count)
            p, index = self.address(b, parts)
        else:
            shift = rng.choice([0, 0, -3, -17, 5])
            if rng.random() < 0.1:
                parts = [self.i32("*", k, self.lit(rng.choice([1000, 1 << 20, (1 << 30) + 1]))) if k.kind != "const"
                         else k for k in parts]
            p, index = self.address(b, parts, shift)
            mask = self.mk("cmp", [index, self.bound(b)], "i1", index.shape, op="<")
            if rng.random() < 0.2:
                mask = self.mk("cmp", [self.bound(b), index], "i1", index.shape, op=">")
            low = self.mk("cmp", [index, self.lit(0)], "i1", index.shape, op=">=")
            mask = self.mk("bin", [mask, low], "i1", index.shape, op="&")
        if rng.random() < 0.25:
            extra = self.gen("i1", self.within(p.shape), 1)
            mask = extra if mask is None else self.mk("bin", [mask, extra], "i1",
                                                      np.broadcast_shapes(mask.shape, extra.shape), op="&")
        if mask is not None and rng.random() < 0.5:
            other = self.const(self.number(dtype), dtype) if rng.random() < 0.6 else self.gen(dtype,
                                                                                              self.within(p.shape), 1)
        options = rng.choice([""] * 6 + [", cache_modifier='.cg'", ", eviction_policy='evict_last'",
                                         ", eviction_policy='evict_first'"])
        n = Node("load", [p, mask, other], dtype, p.shape, options=options)
        if other is not None and other.a.get("product"):  # which the load is, if its mask turns out to be false
            n.a["product"] = True
        if n.shape != shape:
            n = self.mk("broadcast", [n], dtype, shape)
        return n

    def within(self, shape):
        s = self.lesser(tuple(shape))
        return s

    def bound(self, b):
        return self.scalar("i32", ("len", b.name)) if self.rng.random() < 0.5 else Node("const", (), "i32", (),
                                                                                        value=b.count)

    def store(self, shape, dtype, loop=None):
        """A store to cells of its own; in place: what was there is read first. loop:
        the counter and its greatest value."""
        rng = self.rng
        both = rng.random() < 0.2 and loop is None
        b = self.buffer(dtype, "both" if both else "out")
        base = b.count + rng.choice([0, 0, 1, 3, 16])
        parts, count = self.places(shape, True)
        if loop:
            parts.append(self.i32("*", loop[0], self.lit(count)))
            count *= loop[1] + 1
        p, index = self.address(b, parts, base)
        mask, r = None, rng.random()
        if r < 0.3:
            limit = base + rng.randint(0, count)
            mask = self.mk("cmp", [index, self.scalar("i32", limit) if rng.random() < 0.5 else self.lit(limit)], "i1",
                           index.shape, op="<")
        elif r < 0.5:
            mask = self.gen("i1", self.within(p.shape), 2)
        mask = mask if mask is None else self.spill(mask, "m")
        if both:
            old = self.spill(Node("load", [p, mask, None], dtype, p.shape))
            if old.shape == shape:
                self.scope.append(dict(name=old.a["name"], dtype=dtype, shape=p.shape))
        if is_float(dtype) and rng.random() < 0.3 and not both:
            value = self.inexact(dtype, p.shape, 2)
        else:
            source = dtype if is_float(dtype) or rng.random() < 0.7 else rng.choice(INTS + ["i1"])
            value = self.gen(source, self.lesser(p.shape) if rng.random() < 0.2 else p.shape, 3)
            if both:
                value = self.gen(dtype, p.shape, 2)
        b.count = base + count
        self.block.append(Node("store", [p, value, mask]))

    # ---- Statements --------------------------------------------------------------------------------------------------

    def inside(self, make):
        """The statements that `make` adds to a block of its own; its names end with it."""
        outer, depth = self.block, len(self.scope)
        self.block = []
        make()
        block, self.block = self.block, outer
        del self.scope[depth:]
        return block

    def assign(self, v):
        """v, of this or an outer block, gets another value of its type."""
        x = self.unfused(self.settle(self.gen(v["dtype"], v["shape"], 2)))
        if self.rng.random() < 0.4 and v["dtype"] != "i1" and not v.get("open"):
            op = self.rng.choice("+-" if is_float(v["dtype"]) else "+-*&|^")
            self.block.append(Node("augment", [x], name=v["name"], op=op))
        else:
            self.block.append(Node("let", [x], name=v["name"]))

    def carried(self):
        """A variable that loops and branches may change: its exact form is defined, and no product is in it."""
        dtype = self.rng.choice(FLOATS + ["i32"] if self.mode == "float" else INTS + ["i32", "i32", "i1"])
        shape = self.rng.choice(self.palette + [()])
        n = self.unfused(self.settle(self.gen(dtype, shape, 1), always=True))
        name = self.fresh("a")
        self.block.append(Node("let", [n], name=name))
        v = self.declare(name, n)
        v.update(wide=dtype in INTS, open=False, product=False)
        return v

    def loop(self, d):
        rng = self.rng
        vs = [self.carried() for _ in range(rng.randint(1, 2))]
        form, step = rng.choice(["range", "range", "range", "tl.range", "static_range"]), rng.choice([1, 1, 1, 2, 3])
        lo, hi = rng.choice([0, 0, 1, 2]), rng.randint(0, 6)
        low = self.lit(lo)
        high = self.lit(hi) if form == "static_range" or rng.random() < 0.4 else self.scalar("i32", hi)
        most = max(hi - 1, lo, 0)
        if form != "static_range" and rng.random() < 0.25:
            low, high, step, most = high, self.lit(rng.choice([-1, 0])), -step, hi
        elif form != "static_range" and rng.random() < 0.2:
            high, most = self.i32("+", self.i32("&", self.var(self.pid), self.lit(3)), high), max(hi + 3, lo)
        name = self.fresh("k")
        short = form != "static_range" and step == 1 and low.kind == "const" and lo == 0 and rng.random() < 0.5

        def body():
            counter = Node("var", (), "i32", (), name=name)
            if form == "static_range":
                counter = self.i32("+", self.i32("&", self.var(self.pid), self.lit(0)), counter)
                counter = self.spill(counter, "k")
            self.scope.append(dict(name=counter.a["name"], dtype="i32", shape=()))
            if rng.random() < 0.3 and form != "static_range":
                leave = rng.choice(["break", "continue"])
                self.block.append(Node("if", [self.gen("i1", (), 1)], blocks=[[Node(leave)], []]))
            for v in vs:
                self.assign(v)
            for _ in range(rng.randint(0, 2)):
                self.statement(d - 1, (counter, most) if most < 8 else None, True)

        self.block.append(Node("for", [low, high], blocks=[self.inside(body)], name=name, step=step, form=form,
                               short=short, stages=self.stages(form)))

    def stages(self, form):
        """num_stages of a loop, which changes no result; 0: not said. Drawn apart,
        so that kernels are what they were without it."""
        return 0 if form == "static_range" else random.Random(f"{self.p.seed} {self.names}").choice([0, 2, 3, 5])

    def walk(self):
        """A loop that moves a pointer, and loads through it."""
        rng, dtype = self.rng, self.rng.choice(FLOATS if self.mode == "float" else INTS)
        shape, b = rng.choice(self.palette), self.buffer(dtype, "in")
        parts, count = self.places(shape, False)
        step, trips, p, acc = rng.choice([1, 3, 16]), rng.randint(1, 5), self.fresh("p"), self.fresh("a")
        b.count = max(b.count, count + step * trips)
        address, _ = self.address(b, parts)
        self.block.append(Node("let", [address], name=p))
        self.block.append(Node("let", [Node("full", (), dtype, address.shape, value=0)], name=acc))
        moving = Node("var", (), address.dtype, address.shape, name=p)
        x = Node("load", [moving, None, None], dtype, address.shape)
        x = (self.mk("pair", [x, self.const(self.number(dtype), dtype)], dtype, address.shape, op="maximum")
             if rng.random() < 0.5 else x)
        body = [Node("augment", [x], name=acc, op="+"), Node("augment", [self.lit(step)], name=p, op="+")]
        high = self.scalar("i32", trips) if rng.random() < 0.6 else self.lit(trips)
        self.block.append(Node("for", [self.lit(0), high], blocks=[body], name=self.fresh("k"), step=1, form="range",
                               short=rng.random() < 0.5, stages=self.stages("range")))
        self.scope.append(dict(name=acc, dtype=dtype, shape=address.shape, wide=dtype in INTS))

    def until(self):
        v = self.carried()
        bound = self.scalar("i32", self.rng.randint(0, 5))
        name = self.fresh("c")
        start = self.i32("&", self.var(self.pid), self.lit(self.rng.choice([0, 1, 3])))

        def body():
            self.scope.append(dict(name=name, dtype="i32", shape=()))
            self.assign(v)
            if self.rng.random() < 0.3:
                self.block.append(Node("if", [self.gen("i1", (), 1)], blocks=[[Node("break")], []]))

        self.block.append(Node("while", [start, bound], blocks=[self.inside(body)], name=name))

    def branch(self, d):
        vs = [self.carried() for _ in range(self.rng.randint(1, 2))]
        condition = self.gen("i1", (), 2)

        def arm():
            for v in vs:
                if self.rng.random() < 0.8:
                    self.assign(v)
            for _ in range(self.rng.randint(0, 1)):
                self.statement(d - 1, None, True)

        self.block.append(Node("if", [condition],
                               blocks=[self.inside(arm), self.inside(arm) if self.rng.random() < 0.7 else []]))

    def statement(self, d, loop=None, inner=False):
        rng, r = self.rng, self.rng.random()
        shape = rng.choice(self.palette)
        types = FLOATS if self.mode == "float" and rng.random() < 0.85 else INTS + ["i1", "i32"]
        if d > 0 and r < 0.16:
            self.loop(d)
        elif d > 0 and r < 0.26:
            self.branch(d)
        elif r < 0.31:
            self.until()
        elif r < 0.38:
            self.walk()
        elif r < 0.60:
            n = self.gen(rng.choice(types), shape, 3)
            self.spill(n) if n.kind != "const" else None
        elif r < 0.64:
            self.block.append(rng.choice([Node("text", text="debug_barrier()"),
                                          Node("text", text="static_assert(next_power_of_2(5) == 8)"),
                                          Node("assume", [self.mk("cmp", [self.var(self.pid), self.lit(0)], "i1", (),
                                                                  op=">=")])]))
        elif r < 0.66 and shape:
            self.pairs()
        elif r < 0.74 and any(len(f["results"]) > 1 for f in self.p.functions):
            self.tuple_call(rng.choice([f for f in self.p.functions if len(f["results"]) > 1]))
        elif not inner or loop:
            self.store(shape, rng.choice(types), loop)
        elif self.block is not None and rng.random() < 0.5 and self.depth_of_loops == 0:
            self.store(shape, rng.choice(types))

    depth_of_loops = 1  # a store in a branch or loop without a counter would repeat itself: not made

    def pairs(self):
        """a, b = broadcast(x, y)"""
        shape = self.rng.choice(self.palette)
        ts = [self.rng.choice(FLOATS if self.mode == "float" else INTS) for _ in range(2)]
        x, y = self.gen(ts[0], shape, 2), self.gen(ts[1], self.lesser(shape), 2)
        names = [self.fresh("u"), self.fresh("u")]
        self.block.append(Node("lets", [Node("both", [x, y], ts[0], shape)], names=names))
        for name, e in zip(names, (x, y)):
            self.scope.append(dict(name=name, dtype=e.dtype, shape=shape,
                                   **{f: e.a.get(f, False) for f in ("wide", "open", "product")}))

    def tuple_call(self, f):
        names = [self.fresh("u") for _ in f["results"]]
        call = self.mk("call", self.arguments(f, 2), f["results"][0].dtype, f["results"][0].shape, function=f["name"])
        self.block.append(Node("lets", [call], names=names))
        for name, e in zip(names, f["results"]):
            self.scope.append(dict(name=name, dtype=e.dtype, shape=e.shape, wide=not is_float(e.dtype)))

    # ---- The whole ---------------------------------------------------------------------------------------------------

    def function(self):
        rng = self.rng
        types = FLOATS if self.mode == "float" else INTS + ["i32", "i1"]
        params = [(self.fresh("q"), rng.choice(types), rng.choice(self.palette + [()]))
                  for _ in range(rng.randint(1, 3))]
        self.scope = [dict(name=n, dtype=t, shape=s, wide=t in INTS) for n, t, s in params]
        self.in_function, self.block, results = True, [], []
        for _ in range(rng.choice([1, 1, 2])):
            _, t, s = rng.choice(params)
            results.append(self.unfused(self.settle(self.gen(t, s, 2), always=True)))
        self.p.functions.append(dict(name=self.fresh("f"), params=params, body=self.block, results=results))
        self.in_function, self.scope = False, []

    def program(self):
        rng, p = self.rng, self.p
        p.grid, p.num_warps = rng.choice(GRIDS), rng.choice([1, 1, 2, 4, 4, 8, 16])
        self.programs, self.reads = p.grid[0] * p.grid[1] * p.grid[2], 0
        self.palette = [rng.choice(SHAPES) for _ in range(rng.choice([1, 2, 2, 3]))]
        if rng.random() < 0.02:
            self.palette[0] = rng.choice([(512,), (2048,), (4096,), (64, 64)])
        sizes = sorted({d for s in self.palette for d in s if d > 1})
        p.consts = [(f"B{v}", v) for v in sizes if rng.random() < 0.5]
        for _ in range(rng.choice([0, 0, 1, 2])):
            self.function()
        self.block = p.body
        at = [Node("pid", (), "i32", (), axis=a) for a in range(3)]
        n = at[0]
        if p.grid[1] > 1 or p.grid[2] > 1:
            counts = [Node("nprog", (), "i32", (), axis=a) for a in range(2)]
            inner = self.i32("+", self.i32("*", at[2], counts[1]), at[1]) if p.grid[2] > 1 else at[1]
            n = self.i32("+", self.i32("*", inner, counts[0]), at[0])
        p.body.append(Node("let", [n], name="pid"))
        self.pid = self.declare("pid", n)
        self.pid.update(wide=False)
        for t in rng.sample(["i32", "i32", "i64", "u32", "i8", "u16"], 2):
            v = self.scalar(t, rng.choice([0, 1, 1, 1, 16, 17, 100, limits(t)[1]]))
            self.scope.append(dict(name=v.a["name"], dtype=t, shape=(), parameter=True))
        for _ in range(rng.randint(2, 5)):
            self.statement(2)
        for _ in range(rng.randint(1, 3)):
            self.store(rng.choice(self.palette), rng.choice(FLOATS if self.mode == "float" else INTS + ["i32"]))
        self.products()
        self.finish()
        return p

    def finish(self):
        for b in self.p.buffers:
            b.count = max(b.count, 1)
            if b.role == "out":
                b.count += self.rng.choice([0, 0, 5])
            else:
                b.data = self.data(b)
        values = {b.name: b.count for b in self.p.buffers}
        self.p.scalars = [(n, t, values[v[1]] if isinstance(v, tuple) else v) for n, t, v in self.p.scalars]
        self.p.num_ctas = self.rng.choice([1, 1, 1, 2, 4, 8])

    def data(self, b):
        rng = np.random.default_rng(self.rng.getrandbits(64))
        if b.dtype == "i1":
            return rng.integers(0, 2, b.count).astype(np.uint8)
        if not is_float(b.dtype):
            lo, hi = limits(b.dtype)
            kind = np.dtype(("u" if b.dtype[0] == "u" else "") + f"int{b.dtype[1:]}")
            wide = rng.integers(lo, hi, b.count, dtype=kind, endpoint=True)
            small = rng.integers(max(lo, -9), 20, b.count).astype(kind)
            edge = rng.choice(np.array([lo, hi, 0, 1, hi - 1, max(lo, -1)], kind), b.count)
            return np.choose(rng.integers(0, 3, b.count) if self.rng.random() < 0.6 else np.full(b.count, 1),
                             [wide, small, edge]).astype(kind)
        x = rng.standard_normal(b.count) * self.rng.choice([1, 1, 3, 100])
        if self.rng.random() < 0.3:
            special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-7, -6e-8, 1e-40, 60000.0, 3e38], b.count)
            x = np.where(rng.random(b.count) < 0.1, special, x)
        with np.errstate(over="ignore"):
            return image(round_to(x, b.dtype), b.dtype)
