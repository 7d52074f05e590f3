"""evaluate.py - what a random kernel leaves in memory, computed with NumPy from the language's definition alone.

In: a Program. Out: Evaluator(p).run() gives, per buffer,
the memory image and the tolerance per element (None: bitwise).
Method: programs one after the other, statements in order. An integer has its value `v` and its exact form `w` in 64
bits, which comparisons and pointers use; where the language leaves the exact form open, `open` marks the elements, and
using it there raises Undefined, as does everything else that has no defined result. Floats carry an error bound `err`
or None.
"""
import numpy as np

import functions as F
from nodes import BITS, is_float, is_signed
from numeric import NP, round_to


class Undefined(Exception):
    """The kernel has no defined result."""


class Value:
    __slots__ = ("dtype", "v", "w", "open", "err", "buffer")

    def __init__(self, dtype, v, w=None, open_=None, err=None, buffer=None):
        self.dtype, self.v, self.err, self.buffer = dtype, v, err, buffer
        self.w, self.open = w, open_

    def exact(self):
        """The exact form; of a leaf, the value itself."""
        return extend(self.v) if self.w is None else self.w

    def differs(self):
        return False if self.w is None else self.w != extend(self.v)


def extend(v):
    return np.asarray(v).astype(np.int64)


def either(a, b):
    return b if a is None else a if b is None else a | b


class Evaluator:
    def __init__(self, program, fault=None):
        self.p, self.fault = program, fault
        self.memory, self.tolerance, self.writer, self.reader = {}, {}, {}, {}
        self.pointers = {n: b for n, b, _ in program.pointers}
        self.functions = {f["name"]: f for f in program.functions}
        self.steps = 0

    def run(self):
        for b in self.p.buffers:
            image = b.data.copy() if b.data is not None else F.poison(b.dtype, b.count)
            self.memory[b.name], self.tolerance[b.name] = image, None
            self.writer[b.name] = np.full(b.count, -1)
            self.reader[b.name] = np.full(b.count, -1)
        gx, gy, gz = self.p.grid
        with np.errstate(all="ignore"):
            for index in range(gx * gy * gz):
                self.index, self.at = index, (index % gx, index // gx % gy, index // (gx * gy))
                env = {n: Value(t, np.asarray(v, NP[t])) for n, t, v in self.p.scalars}
                self.block(self.p.body, env)
        return self.memory, self.tolerance

    # ---- Statements --------------------------------------------------------------------------------------------------

    def block(self, block, env):
        for s in block:
            self.steps += 1
            if self.steps > 20000:
                raise Undefined("too many steps")
            leave = getattr(self, "do_" +
                            s.kind.replace("for", "loop").replace("while", "count").replace("if", "branch"))(s, env)
            if leave:
                return leave
        return None

    def do_let(self, s, env):
        env[s.a["name"]] = self.value(s.kids[0], env)

    def do_lets(self, s, env):
        if len(s.kids) == 1 and s.kids[0].kind == "call":
            found = self.call(s.kids[0], env)
        else:  # a, b = broadcast(x, y)
            x, y = (self.value(k, env) for k in s.kids[0].kids)
            shape = np.broadcast_shapes(np.shape(x.v), np.shape(y.v))
            found = [self.reshaped(z, lambda part: np.broadcast_to(part, shape)) for z in (x, y)]
        env.update(zip(s.a["names"], found))

    def do_augment(self, s, env):
        old, x = env[s.a["name"]], self.value(s.kids[0], env)
        if old.buffer:
            env[s.a["name"]] = self.advance(old, x, False)
        else:
            env[s.a["name"]] = self.binary(s.a["op"], old, x, old.dtype)

    def do_text(self, s, env):
        pass

    def do_assume(self, s, env):
        if not self.value(s.kids[0], env).v.all():
            raise Undefined("a false assumption")

    def truth(self, node, env):
        x = self.value(node, env)
        if np.ndim(x.v) or x.dtype != "i1":
            raise Undefined("a condition that is no scalar")
        return bool(x.v)

    def do_branch(self, s, env):
        return self.block(s.blocks[0] if self.truth(s.kids[0], env) else s.blocks[1], env)

    def bound(self, node, env):
        x = self.value(node, env)
        if np.any(x.differs()) or (x.open is not None and np.any(x.open)):
            raise Undefined("a bound that wraps")
        return int(x.v)

    def do_loop(self, s, env):
        lo, hi, step = self.bound(s.kids[0], env), self.bound(s.kids[1], env), s.a["step"]
        for k in range(lo, hi - (self.fault == "loop"), step):
            env[s.a["name"]] = Value("i32", np.asarray(k, np.int32))
            leave = self.block(s.blocks[0], env)
            if leave == "return":
                return leave
            if leave == "break":
                break
        return None

    def do_count(self, s, env):
        env[s.a["name"]] = self.value(s.kids[0], env)
        while int(env[s.a["name"]].v) < self.bound(s.kids[1], env):
            leave = self.block(s.blocks[0], env)
            if leave == "return":
                return leave
            if leave == "break":
                break
            if leave == "continue":
                raise Undefined("continue before the count")
            env[s.a["name"]] = Value("i32", np.asarray(int(env[s.a["name"]].v) + 1, np.int32))
        return None

    def do_break(self, s, env):
        return "break"

    def do_continue(self, s, env):
        return "continue"

    def do_return(self, s, env):
        return "return"

    def do_store(self, s, env):
        p, x = self.value(s.kids[0], env), self.value(s.kids[1], env)
        mask = self.value(s.kids[2], env).v if s.kids[2] is not None else np.True_
        if self.fault == "store mask":
            mask = np.True_
        self.settle(p)
        buffer = self.p.buffer(p.buffer)
        x = self.convert(x, buffer.dtype)
        try:
            at, mask, v = (np.broadcast_to(z, np.shape(p.w)).ravel() for z in (p.w, mask, x.v))
            err = None if x.err is None else np.broadcast_to(x.err, np.shape(p.w)).ravel()[mask]
        except ValueError:
            raise Undefined("shapes of a store") from None
        at, v = at[mask], v[mask]
        if self.fault == "store mask":
            keep = (at >= 0) & (at < buffer.count)
            at, v = at[keep], v[keep]
            err = None
        elif at.size and (at.min() < 0 or at.max() >= buffer.count):
            raise Undefined("a store beside its buffer")
        if np.unique(at).size != at.size:
            raise Undefined("two elements of a store at one place")
        self.claim(buffer.name, at, True)
        self.memory[buffer.name][at] = F.image(v, buffer.dtype)
        if err is not None and self.tolerance[buffer.name] is None:
            self.tolerance[buffer.name] = np.zeros(buffer.count)
        if self.tolerance[buffer.name] is not None:
            self.tolerance[buffer.name][at] = 0 if err is None else err

    def claim(self, name, at, is_store):
        """Programs are not ordered: what one stores, no other may touch."""
        writer, reader = self.writer[name], self.reader[name]
        if ((writer[at] != -1) & (writer[at] != self.index)).any():
            raise Undefined("two programs at one place")
        if is_store:
            if ((reader[at] != -1) & (reader[at] != self.index)).any():
                raise Undefined("a store where another program loads")
            writer[at] = self.index
        else:
            reader[at] = np.where((reader[at] == -1) | (reader[at] == self.index), self.index, -2)

    # ---- Expressions -------------------------------------------------------------------------------------------------

    def value(self, n, env):
        x = getattr(self, "of_" + n.kind)(n, env)
        if n.shape is not None and np.shape(x.w if x.buffer else x.v) != n.shape:
            raise Undefined(f"shape {np.shape(x.v)} of {n.kind}, not {n.shape}")
        if x.dtype != n.dtype and not x.buffer:
            raise Undefined(f"type {x.dtype} of {n.kind}, not {n.dtype}")
        return x

    def settle(self, x):
        """x is about to be compared or used as an address: its exact form must be defined."""
        if x.open is not None and np.any(x.open):
            raise Undefined("the exact form is open")

    def convert(self, x, dtype, rounding="near"):
        if x.dtype == dtype:
            return x
        if is_float(dtype):
            return F.to_float(x, dtype, Value, rounding)
        if is_float(x.dtype):
            return Value(dtype, self.defined(F.float_to_int(x, dtype), "a float beyond the integer type"))
        if dtype == "i1":
            return Value(dtype, x.v != 0)
        v = x.v.astype(NP[dtype])
        if self.fault == "extend" and x.dtype == "u8" and dtype == "i32":
            v = x.v.view(np.int8).astype(np.int32)
        if BITS[dtype] > BITS[x.dtype] and x.dtype != "i1":
            is_same = x.dtype[0] == "u" or dtype[0] != "u"  # a negative number is another as unsigned
            return Value(dtype, v, x.w, x.open) if is_same else Value(dtype, v)
        same = BITS[dtype] == BITS[x.dtype]
        return Value(dtype, v, None, x.differs() if same and np.any(x.differs()) else None)

    def defined(self, x, what):
        if x is None:
            raise Undefined(what)
        return x

    def of_var(self, n, env):
        if n.a["name"] not in env:
            raise Undefined("a name without a value")
        return env[n.a["name"]]

    def of_ptr(self, n, env):
        return Value("ptr", np.int64(0), np.asarray(0, np.int64), buffer=self.pointers[n.a["name"]])

    def advance(self, p, x, minus):
        self.settle(x)
        return Value("ptr", np.int64(0), p.w - x.exact() if minus else p.w + x.exact(), p.open, buffer=p.buffer)

    def of_add(self, n, env):
        return self.advance(self.value(n.kids[0], env), self.value(n.kids[1], env), n.a.get("minus"))

    def of_const(self, n, env):
        if is_float(n.dtype):
            return Value(n.dtype, round_to(np.asarray(n.a["value"], np.float64), n.dtype))
        return Value(n.dtype, np.asarray(n.a["value"], NP[n.dtype]))

    def of_full(self, n, env):
        x = self.of_const(n, env)
        return Value(n.dtype, np.full(n.shape, x.v))

    def of_fullv(self, n, env):
        x = self.convert(self.value(n.kids[0], env), n.dtype)
        return Value(n.dtype, np.full(n.shape, x.v), None, np.any(x.differs()) or None,
                     None if x.err is None else np.full(n.shape, x.err))

    def of_zeros(self, n, env):
        return Value(n.dtype, np.zeros(n.shape, NP[n.dtype]))

    of_like = of_sums = of_zeros

    def of_pid(self, n, env):
        return Value("i32", np.asarray(self.at[n.a["axis"]], np.int32))

    def of_nprog(self, n, env):
        return Value("i32", np.asarray(self.p.grid[n.a["axis"]], np.int32))

    def of_arange(self, n, env):
        return Value("i32", np.arange(n.a["start"], n.a["start"] + n.shape[0], dtype=np.int32))

    def of_bin(self, n, env):
        return self.binary(n.a["op"], self.value(n.kids[0], env), self.value(n.kids[1], env), n.dtype)

    def binary(self, op, a, b, dtype):
        if is_float(dtype):
            return F.float_binary(op, self.convert(a, dtype), self.convert(b, dtype), dtype, Value)
        x, y = self.convert(a, dtype).v, self.convert(b, dtype).v
        if op in ("+", "-", "*"):
            if dtype == "i1":
                raise Undefined("arithmetic of truth values")
            v = self.defined(F.ring(op, x, y), "ring")
            if self.fault == "wrap" and dtype == "i8":
                v = np.clip(F.ring(op, x.astype(np.int32), y.astype(np.int32)), -128, 127).astype(np.int8)
            return Value(dtype, v, F.ring(op, a.exact(), b.exact()), either(a.open, b.open))
        r = Value(dtype, self.defined(F.int_binary(op, x, y, dtype, self.fault), f"{op} beyond what is defined"))
        if op == "%" and is_signed(dtype):  # the exact form is open where an operand's is not its value
            differs = a.differs() | b.differs()
            r.open = either(differs if np.any(differs) else None, either(a.open, b.open))
        return r

    def of_dot(self, n, env):
        x, y, *rest = (self.value(k, env).v.astype(np.int64) for k in n.kids)
        if self.fault == "dot":
            x = np.where(x < 0, x + 256, x)
        return Value("i32", (x @ y + (rest[0] if rest else 0)).astype(np.int32))

    def of_cdiv(self, n, env):
        x, y = (self.value(k, env) for k in n.kids)
        if np.any(x.v < 0) or np.any(y.v <= 0) or np.any(extend(x.v) + extend(y.v) > 127):
            raise Undefined("cdiv beyond small numbers")
        return Value(n.dtype, ((x.v + y.v - y.v.dtype.type(1)) // y.v).astype(NP[n.dtype]))

    def numbers(self, *values):
        """Integers of any size, of values that are their exact forms."""
        if any(np.any(x.differs()) for x in values):
            raise Undefined("an exact form beside u64")
        return [x.v.astype(object) for x in values]

    def of_cmp(self, n, env):
        a, b = (self.value(k, env) for k in n.kids)
        if is_float(a.dtype) or is_float(b.dtype):
            if a.err is not None or b.err is not None or a.dtype != b.dtype:
                raise Undefined("inexact values compared")
            return Value("i1", F.compare(n.a["op"], a.v, b.v))
        self.settle(a), self.settle(b)
        if "u64" in (a.dtype, b.dtype):
            x, y = self.numbers(a, b)
            if self.fault == "mixed":
                x, y = a.v.astype(np.uint64), b.v.astype(np.uint64)
            return Value("i1", np.asarray(F.compare(n.a["op"], x, y), bool))
        if self.fault == "wide":
            return Value("i1", F.compare(n.a["op"], extend(a.v), extend(b.v)))
        if self.fault == "unsigned" and a.dtype == b.dtype == "u32":
            return Value("i1", F.compare(n.a["op"], a.v.view(np.int32), b.v.view(np.int32)))
        return Value("i1", F.compare(n.a["op"], a.exact(), b.exact()))

    def of_logic(self, n, env):
        a = self.truth(n.kids[0], env)
        take = a if n.a["op"] == "and" else not a
        return self.value(n.kids[1], env) if take else Value("i1", np.asarray(a))

    def unary(self, n, x, v):
        """A result whose exact form is open where it, or its operand's, is not its value."""
        w = (F.ring("-", np.int64(0), x.exact()) if n.kind == "neg" else np.abs(x.exact()) if n.kind == "abs"
             else x.exact())
        differs = (w != extend(v)) if n.kind != "power" else extend(v) != x.exact() ** n.a["exponent"]
        return Value(x.dtype, v, None, either(differs if np.any(differs) else None, x.open))

    def of_neg(self, n, env):
        x = self.value(n.kids[0], env)
        return Value(x.dtype, -x.v, err=x.err) if is_float(x.dtype) else self.unary(n, x,
                                                                                    F.ring("-", x.v.dtype.type(0), x.v))

    def of_abs(self, n, env):
        x = self.value(n.kids[0], env)
        return Value(x.dtype, np.abs(x.v), err=x.err) if is_float(x.dtype) else self.unary(n, x, np.abs(x.v))

    def of_power(self, n, env):
        x = self.value(n.kids[0], env)
        v = x.v
        for _ in range(n.a["exponent"] - 1):
            v = v * x.v
        return self.unary(n, x, v)

    def of_not(self, n, env):
        x = self.value(n.kids[0], env)
        return Value(x.dtype, ~np.asarray(x.v))

    def merged(self, v, dtype, parts):
        """A choice between integers: the exact form is open where some part's is not its value."""
        maybe = None
        for x in parts:
            maybe = either(maybe, x.open)
            if np.any(x.differs()):
                maybe = either(maybe, x.differs())
        return Value(dtype, v, None, maybe)

    def of_where(self, n, env):
        c, a, b = (self.value(k, env) for k in n.kids)
        if is_float(n.dtype):
            a, b = self.convert(a, n.dtype), self.convert(b, n.dtype)
            return Value(n.dtype, np.where(c.v, a.v, b.v), err=F.pick(c.v, a.err, b.err))
        return self.merged(np.where(c.v, self.convert(a, n.dtype).v, self.convert(b, n.dtype).v), n.dtype, (a, b))

    def of_choice(self, n, env):
        return self.value(n.kids[1] if self.truth(n.kids[0], env) else n.kids[2], env)

    def of_pair(self, n, env):
        a, b = (self.value(k, env) for k in n.kids)
        if is_float(n.dtype):
            return F.float_pick(n, self.convert(a, n.dtype), self.convert(b, n.dtype), Value)
        if a.dtype[0] != b.dtype[0]:  # a signed and an unsigned one
            pick = max if n.a["op"].startswith("max") else min
            exact = np.frompyfunc(lambda x, y: pick(int(x), int(y)) % 2 ** 64, 2, 1)(*self.numbers(a, b))
            return Value(n.dtype, np.asarray(exact, np.uint64).astype(NP[n.dtype]))
        x, y = self.convert(a, n.dtype).v, self.convert(b, n.dtype).v
        return self.merged((np.maximum if n.a["op"].startswith("max") else np.minimum)(x, y), n.dtype, (a, b))

    def of_clamp(self, n, env):
        x, lo, hi = (self.value(k, env) for k in n.kids)
        if np.any(lo.v > hi.v) or (is_float(n.dtype) and np.isnan(x.v).any()):
            raise Undefined("clamp")
        v = np.minimum(np.maximum(x.v, lo.v), hi.v)
        if is_float(n.dtype):
            if np.any((x.v == 0) & ((lo.v == 0) | (hi.v == 0))):
                raise Undefined("the sign of zero")
            return Value(n.dtype, v, err=x.err)
        return self.merged(v, n.dtype, (x, lo, hi))

    def of_fma(self, n, env):
        return self.float_only(F.fused(n.dtype, [self.value(k, env) for k in n.kids], Value))

    def of_math(self, n, env):
        return self.float_only(F.math(n.a["op"], self.value(n.kids[0], env), Value))

    def of_div(self, n, env):
        return self.float_only(F.divide(*[self.convert(self.value(k, env), n.dtype) for k in n.kids], n.dtype, Value))

    def float_only(self, x):
        return self.defined(x, "an inexact operand, or one out of range")

    def of_cast(self, n, env):
        x = self.value(n.kids[0], env)
        if n.a.get("bits"):
            return F.bitcast(x, n.dtype, Value)
        return self.convert(x, n.dtype, n.a.get("rounding", "near"))

    def reshaped(self, x, change):
        return Value(x.dtype, change(x.v) if not x.buffer else x.v,
                     *[None if z is None else change(np.broadcast_to(z, np.shape(x.w if x.buffer else x.v)))
                                                                     for z in (x.w, x.open, x.err)], x.buffer)

    def of_index(self, n, env):
        key = tuple(None if d else slice(None) for d in n.a["new"])
        return self.reshaped(self.value(n.kids[0], env), lambda z: z[key])

    def of_expand(self, n, env):
        return self.reshaped(self.value(n.kids[0], env), lambda z: np.expand_dims(z, n.a["axis"]))

    def of_reshape(self, n, env):
        return self.reshaped(self.value(n.kids[0], env), lambda z: z.reshape(n.shape))

    def of_trans(self, n, env):
        return self.reshaped(self.value(n.kids[0], env), np.transpose)

    def of_whole(self, n, env):
        return self.value(n.kids[0], env)

    def of_broadcast(self, n, env):
        return self.reshaped(self.value(n.kids[0], env), lambda z: np.broadcast_to(z, n.shape))

    def of_hint(self, n, env):
        x = self.value(n.kids[0], env)
        if np.any(extend(x.v) % n.a["value"]) or np.any(x.differs()):
            raise Undefined("a false hint")
        return x

    def of_reduce(self, n, env):
        x = self.value(n.kids[0], env)
        if np.ndim(x.v) == 0:
            raise Undefined("a reduction of a scalar")
        if is_float(n.dtype):
            return F.float_reduce(n, x, self.convert, Value)
        c = self.convert(x, n.dtype)
        keep = bool(n.a.get("keep"))
        if n.a["op"] == "sum":
            data = c.v[..., :-1] if self.fault == "sum" and n.a["axis"] == np.ndim(c.v) - 1 else c.v
            v = np.sum(data, axis=n.a["axis"], dtype=NP[n.dtype], keepdims=keep)
            differs = (np.sum(extend(c.v).astype(np.float64), axis=n.a["axis"], keepdims=keep) !=
                       extend(v).astype(np.float64))
            unclear = either(differs if np.any(differs) else None, np.any(x.differs()) or None)
        else:
            v = (np.max if n.a["op"] == "max" else np.min)(c.v, axis=n.a["axis"], keepdims=keep)
            unclear = np.any(x.differs()) or (x.open is not None and np.any(x.open)) or None
        return Value(n.dtype, np.asarray(v), None, None if unclear is None else np.broadcast_to(unclear, np.shape(v)))

    def of_load(self, n, env):
        p = self.value(n.kids[0], env)
        mask = self.value(n.kids[1], env).v if n.kids[1] is not None else np.True_
        self.settle(p)
        buffer = self.p.buffer(p.buffer)
        mask, at = np.broadcast_to(mask, p.w.shape), p.w
        if mask.any() and (at[mask].min() < 0 or at[mask].max() >= buffer.count):
            raise Undefined("a load beside its buffer")
        self.claim(buffer.name, at[mask], False)
        if self.tolerance[buffer.name] is not None and self.tolerance[buffer.name][at[mask]].any():
            raise Undefined("an inexact element is loaded")
        got = F.number(self.memory[buffer.name][np.where(mask, at, 0)], buffer.dtype)
        other = NP[buffer.dtype](0)
        if n.kids[2] is not None and self.fault != "other":
            other = self.convert(self.value(n.kids[2], env), buffer.dtype)
            if other.err is not None:
                raise Undefined("inexact other")
            other = other.v
        return Value(buffer.dtype, np.where(mask, got, other).astype(NP[buffer.dtype]))

    def call(self, n, env):
        f = self.functions[n.a["function"]]
        inner = {name: self.value(k, env) for (name, _, _), k in zip(f["params"], n.kids)}
        self.block(f["body"], inner)
        return [self.value(e, inner) for e in f["results"]]

    def of_call(self, n, env):
        return self.call(n, env)[0]

