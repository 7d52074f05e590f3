"""nodes.py - a random kernel as a tree: expressions, statements, functions, buffers; the tree prints itself as source.

In: what the generator builds. Out: source text (Program.emit), and a uniform tree for evaluation and reduction.
Method: one class for all nodes: `kind`, `kids` (nodes), `dtype` and `shape` of expressions, `a` for everything else. A
statement's expressions are `kids`, its blocks are `blocks`; an optional operand that is absent is None.
"""
import copy
import math

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["fp16", "bf16", "fp32", "fp64"]
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
        "fp16": 16, "bf16": 16, "fp32": 32, "fp64": 64}


def is_float(dtype):
    return dtype in FLOATS


def is_signed(dtype):
    return dtype[0] == "i" and dtype != "i1"


def limits(dtype):
    """The least and the greatest value of an integer type."""
    bits = BITS[dtype]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(dtype) else (0, (1 << bits) - 1)


class Node:
    def __init__(self, kind, kids=(), dtype=None, shape=None, blocks=(), **a):
        self.kind, self.kids, self.blocks, self.a = kind, list(kids), [list(b) for b in blocks], a
        self.dtype, self.shape = dtype, None if shape is None else tuple(shape)

    def __repr__(self):
        return f"<{self.kind} {emit(self) if self.dtype else ''}>"


class Buffer:
    """Memory behind one or more pointer parameters. data: its elements as the memory image, or None: poisoned."""

    def __init__(self, name, dtype, count, role):
        self.name, self.dtype, self.count, self.role = name, dtype, count, role
        self.data, self.offset, self.kind = None, 0, "any"


class Program:
    """pointers: (parameter, buffer's name, const); scalars: (parameter, dtype, value); consts: (parameter, value)."""

    def __init__(self, seed, mode):
        self.seed, self.mode = seed, mode
        self.buffers, self.pointers, self.scalars, self.consts = [], [], [], []
        self.functions, self.body = [], []
        self.grid, self.num_warps, self.num_ctas = (1, 1, 1), 4, 1

    def buffer(self, name):
        return next(b for b in self.buffers if b.name == name)

    def clone(self):
        return copy.deepcopy(self)

    def emit(self):
        lines = []
        for f in self.functions:
            lines += ["@jit", f"def {f['name']}({', '.join(n for n, _, _ in f['params'])}):"]
            lines += emit_block(f["body"], 1) + ["    return " + ", ".join(emit(e) for e in f["results"]), ""]
        grid = ", ".join(str(g) for g in self.grid) + ","
        parts = [f"{n}: *{'const ' if const else ''}{self.buffer(b).dtype}" for n, b, const in self.pointers]
        parts += [f"{n}: {t}" for n, t, _ in self.scalars] + [f"{n}: constexpr = {v}" for n, v in self.consts]
        lines += [f"@kernel(grid=({grid}))", f"def k({', '.join(parts)}):"]
        return "\n".join(lines + emit_block(self.body, 1)) + "\n"


def walk(node):
    """The node and all below it."""
    yield node
    for k in node.kids:
        if k is not None:
            yield from walk(k)
    for block in node.blocks:
        for s in block:
            yield from walk(s)


def walk_program(p):
    for f in p.functions:
        for n in f["body"] + f["results"]:
            yield from walk(n)
    for s in p.body:
        yield from walk(s)


# ---- Expressions -----------------------------------------------------------------------------------------------------

def literal(value, dtype):
    if dtype == "i1":
        return "True" if value else "False"
    if is_float(dtype):
        if math.isnan(value):
            return "float('nan')"
        text = "inf" if math.isinf(value) else repr(abs(float(value)))
        negative = math.copysign(1, value) < 0
        return f"(-{text})" if negative else text
    return str(value) if value >= 0 else f"({value})"


def _index(n):
    return "[" + ", ".join("None" if d else ":" for d in n.a["new"]) + "]"


def _reduce(n):
    x, axis = emit(n.kids[0]), n.a["axis"]
    extra = (f", axis={axis}" if axis is not None else "") + (", keep_dims=True" if n.a.get("keep") else "")
    extra += f", dtype={n.dtype}" if n.a.get("typed") else ""
    extra += ", propagate_nan=True" if n.a.get("nan") else ""
    if n.a.get("method"):
        return f"{x}.{n.a['op']}({extra[2:]})"
    return f"{'tl.' if n.a.get('tl') else ''}{n.a['op']}({x}{extra})"


def _load(n):
    p, mask, other = (k and emit(k) for k in n.kids)
    return (f"load({p}" + (f", mask={mask}" if mask else "") + (f", other={other}" if other else "") +
            f"{n.a.get('options', '')})")


def _pair(n):
    return f"{n.a['op']}({emit(n.kids[0])}, {emit(n.kids[1])}{', propagate_nan=True' if n.a.get('nan') else ''})"


def _shape(shape):
    return "(" + "".join(f"{d}, "
                         for d in shape).rstrip() + ")" if len(shape) == 1 else "(" + ", ".join(map(str, shape)) + ")"


def _call(n):
    return f"{n.a['op']}({', '.join(emit(k) for k in n.kids)})"


def _dot(n):
    through = f".to({n.a['through']})" if n.a.get("through") else ""
    x, rest = emit(n.kids[0]) + through, ", ".join([emit(n.kids[1]) + through] + [emit(k) for k in n.kids[2:]])
    return f"{x}.dot({rest})" if n.a["method"] else f"dot({x}, {rest})"


EMIT = {
    "var": lambda n: n.a["name"],
    "ptr": lambda n: n.a["name"],
    "const": lambda n: literal(n.a["value"], n.dtype),
    "pid": lambda n: f"program_id({n.a['axis']})",
    "nprog": lambda n: f"num_programs({n.a['axis']})",
    "arange": lambda n: f"arange({n.a['start']}, {n.a.get('name') or n.a['start'] + n.shape[0]})",
    "full": lambda n: f"full({_shape(n.shape)}, {literal(n.a['value'], n.dtype)}, {n.dtype})",
    "fullv": lambda n: f"full({_shape(n.shape)}, {emit(n.kids[0])}, {n.dtype})",
    "zeros": lambda n: f"zeros({_shape(n.shape)}, {n.dtype})",
    "like": lambda n: f"zeros_like({emit(n.kids[0])})",
    "bin": lambda n: f"({emit(n.kids[0])} {n.a['op']} {emit(n.kids[1])})",
    "cmp": lambda n: f"({emit(n.kids[0])} {n.a['op']} {emit(n.kids[1])})",
    "logic": lambda n: f"({emit(n.kids[0])} {n.a['op']} {emit(n.kids[1])})",
    "neg": lambda n: f"(-{emit(n.kids[0])})",
    "not": lambda n: f"(~{emit(n.kids[0])})",
    "abs": lambda n: f"abs({emit(n.kids[0])})",
    "power": lambda n: f"({emit(n.kids[0])} ** {n.a['exponent']})",
    "where": lambda n: f"where({', '.join(emit(k) for k in n.kids)})",
    "choice": lambda n: f"({emit(n.kids[1])} if {emit(n.kids[0])} else {emit(n.kids[2])})",
    "pair": _pair,
    "clamp": lambda n: f"clamp({', '.join(emit(k) for k in n.kids)})",
    "fma": lambda n: f"fma({', '.join(emit(k) for k in n.kids)})",
    "cast": lambda n: f"cast({emit(n.kids[0])}, {n.dtype})" if n.a.get("form")
    else f"{emit(n.kids[0])}.to({n.dtype}{n.a.get('options', '')})", "index": lambda n: emit(n.kids[0]) + _index(n),
    "expand": lambda n: f"expand_dims({emit(n.kids[0])}, {n.a['axis']})",
    "reshape": lambda n: f"{n.a.get('form', 'reshape')}({emit(n.kids[0])}, {_shape(n.shape)})",
    "broadcast": lambda n: f"broadcast_to({emit(n.kids[0])}, {_shape(n.shape)})",
    "hint": lambda n: f"{n.a['op']}({emit(n.kids[0])}, {n.a['value']})",
    "reduce": _reduce,
    "dot": _dot,
    "sums": lambda n: f"zeros({_shape(n.shape)}, {'fp32' if n.a['through'] else 'i32'})",
    "whole": lambda n: emit(n.kids[0]) + (".to(i32)" if n.a["through"] else ""),
    "trans": lambda n: f"trans({emit(n.kids[0])})" if n.a["form"] else f"{emit(n.kids[0])}.T",
    "load": _load,
    "add": lambda n: f"({emit(n.kids[0])} + {emit(n.kids[1])})" if not n.a.get("minus")
    else f"({emit(n.kids[0])} - {emit(n.kids[1])})", "math": _call,
    "div": lambda n: f"fdiv({emit(n.kids[0])}, {emit(n.kids[1])})" if n.a.get("form")
    else f"({emit(n.kids[0])} / {emit(n.kids[1])})",
    "both": lambda n: f"broadcast({emit(n.kids[0])}, {emit(n.kids[1])})",
    "cdiv": lambda n: f"cdiv({emit(n.kids[0])}, {emit(n.kids[1])})",
    "call": lambda n: f"{n.a['function']}({', '.join(emit(k) for k in n.kids)})",
}


def emit(n):
    return EMIT[n.kind](n)


# ---- Statements ------------------------------------------------------------------------------------------------------

def _store(s):
    p, value, mask = (k and emit(k) for k in s.kids)
    return f"store({p}, {value}" + (f", mask={mask}" if mask else "") + ")"


def _range(s):
    lo, hi, step = s.kids[0], s.kids[1], s.a["step"]
    text = emit(hi) if s.a.get("short") else f"{emit(lo)}, {emit(hi)}" + (f", {step}" if step != 1 else "")
    text += f", num_stages={s.a['stages']}" if s.a.get("stages") else ""
    return f"{s.a['form']}({text})"


def emit_block(block, depth):
    pad, lines = "    " * depth, []
    for s in block:
        if s.kind == "let":
            lines.append(pad + f"{s.a['name']} = {emit(s.kids[0])}")
        elif s.kind == "lets":
            lines.append(pad + f"{', '.join(s.a['names'])} = {', '.join(emit(k) for k in s.kids)}")
        elif s.kind == "augment":
            lines.append(pad + f"{s.a['name']} {s.a['op']}= {emit(s.kids[0])}")
        elif s.kind == "store":
            lines.append(pad + _store(s))
        elif s.kind == "text":
            lines.append(pad + s.a["text"])
        elif s.kind == "assume":
            lines.append(pad + f"assume({emit(s.kids[0])})")
        elif s.kind == "for":
            lines += [pad + f"for {s.a['name']} in {_range(s)}:"] + _body(s.blocks[0], depth)
        elif s.kind == "while":
            count = s.a["name"]
            lines += [pad + f"{count} = {emit(s.kids[0])}", pad + f"while {count} < {emit(s.kids[1])}:"]
            lines += emit_block(s.blocks[0], depth + 1) + [pad + f"    {count} += 1"]
        elif s.kind == "if":
            lines += [pad + f"if {emit(s.kids[0])}:"] + _body(s.blocks[0], depth)
            lines += ([pad + "else:"] + _body(s.blocks[1], depth)) if s.blocks[1] else []
        else:
            lines.append(pad + s.kind)  # break, continue, return
    return lines


def _body(block, depth):
    return emit_block(block, depth + 1) or ["    " * (depth + 1) + "pass"]
