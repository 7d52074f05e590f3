"""products.py - random products of matrices: loops over k with operands that move, transposed and computed operands, a
product of a product, sums of rows and columns of one.

In: a generator whose statements are drawn. Out: statements behind them, drawn by a source of their own, so that the
kernels of seeds without products are what they were. Method: bytes are multiplied as i8 and u8, or as floats that hold
them exactly; every partial sum is below 2 ** 24, so fp32 sums are integers in any order.
"""
import random

from floats import FloatExpressions
from nodes import Node

SIDES = [4, 8, 16, 16, 32, 32, 64]
MOST = 2048  # elements of a tile
MANTISSA = 256  # 255 * 255 * 256 < 2 ** 24


class Products(FloatExpressions):
    def products(self):
        """Some statements with a product at the end of a kernel, or none."""
        outer, self.rng = self.rng, random.Random(f"products {self.p.seed}")
        if self.mode == "int" and self.rng.random() < 0.35:
            n = self.summed(*self.sides())
            self.result(n)
            if self.rng.random() < 0.5:
                n = self.again(n)
                self.result(n)
            if self.rng.random() < 0.6:
                axis = self.rng.randint(0, 1)
                op = self.rng.choice(["sum", "max", "min"])
                self.result(self.mk("reduce", [n], "i32", n.shape[:axis] + n.shape[axis + 1:], op=op, axis=axis,
                                    keep=False))
        self.rng = outer

    def sides(self):
        """m, n, k of which no tile is too large."""
        m, n, k = (self.rng.choice(SIDES + more) for more in ([], [], [1, 2, 128, 256]))
        while max(m * n, n * k, m * k) > MOST:
            m, n, k = max(m // 2, 1), max(n // 2, 1), max(k // 2, 1)
        return m, n, k

    def let(self, n, prefix):
        name = self.fresh(prefix)
        self.block.append(Node("let", [n], name=name))
        return Node("var", (), n.dtype, n.shape, name=name)

    def operand(self, shape, trips):
        """A tile of bytes that moves from round to round: (what is loaded there, statements that move it)."""
        rng, dtype = self.rng, self.rng.choice(["i8", "i8", "u8"])
        is_flipped, b = rng.random() < 0.4, self.buffer(dtype, "in")
        parts, count = self.places(shape[::-1] if is_flipped else shape, False)
        step = rng.choice([1, 16, 64])
        b.count = max(b.count, count + step * max(trips, 1))
        p = self.let(self.address(b, parts)[0], "p")
        x = Node("load", [p, None, None], dtype, p.shape)
        if rng.random() < 0.4:
            x = self.mk("pair", [x, self.const(rng.randint(0, 9), dtype)], dtype, p.shape,
                        op=rng.choice(["maximum", "minimum"]))
        if p.shape != (shape[::-1] if is_flipped else shape):
            x = self.mk("broadcast", [x], dtype, shape[::-1] if is_flipped else shape)
        x = self.mk("trans", [x], dtype, shape, form=rng.random() < 0.5) if is_flipped else x
        return x, Node("augment", [self.lit(step)], name=p.a["name"], op="+")

    def summed(self, m, n, k):
        """acc += x y, some rounds; the sum as i32."""
        rng, through = self.rng, self.rng.choice([None, None, "fp16", "bf16", "fp32"])
        trips = rng.randint(0, min(4, MANTISSA // k))
        x, move_x = self.operand((m, k), trips)
        y, move_y = self.operand((k, n), trips)
        acc = self.let(Node("sums", (), "i32", (m, n), through=through), "s")
        made = Node("let", [Node("dot", [x, y, acc], "i32", (m, n), method=rng.random() < 0.3, through=through)],
                    name=acc.a["name"])
        high = self.scalar("i32", trips) if rng.random() < 0.6 else self.lit(trips)
        self.block.append(Node("for", [self.lit(0), high], blocks=[[made, move_x, move_y]], name=self.fresh("k"),
                               step=1, form="range", short=rng.random() < 0.5, stages=self.stages("range")))
        return self.let(Node("whole", [acc], "i32", (m, n), through=through), "t")

    def again(self, n):
        """The product of a product, of which a few bits are left, with another operand."""
        rng, k = self.rng, n.shape[1]
        bits = self.mk("bin", [n, self.const(rng.choice([3, 15, 127]), "i32")], "i32", n.shape, op="&")
        x = self.let(self.mk("cast", [bits], "i8", n.shape), "t")
        if rng.random() < 0.3:
            x = self.mk("trans", [x], "i8", n.shape[::-1], form=rng.random() < 0.5)
            k = n.shape[0]
        columns = rng.choice([s for s in SIDES if s * max(k, x.shape[0]) <= MOST])
        y, _ = self.operand((k, columns), 1)
        through = rng.choice([None, "fp16", "bf16", "fp32"])
        shape = (x.shape[0], columns)
        made = Node("dot", [x, y], "i32", shape, method=rng.random() < 0.3, through=through)
        return self.let(made if through is None else Node("whole", [made], "i32", shape, through=through), "t")

    def result(self, n):
        """n goes to cells of its own."""
        b = self.buffer("i32", "out")
        base = b.count
        parts, count = self.places(n.shape, True)
        p, _ = self.address(b, parts, base)
        b.count = base + count
        self.block.append(Node("store", [p, n, None]))
