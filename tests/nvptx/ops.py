# RUN: %python %s --fsc fsc --archs sm_75 --ops %S/../../compiler/ir/ops.def --out %t.d
# RUN: %python %s --self-test
"""ops.py - every elementwise op, conversion and reduction of ops.def × element type × arch,
through the whole GPU path; other archs: more/.

Writes one tile IR function per arch that holds a load, the op and a store per row, compiles it, and assembles the PTX
where a ptxas is found (FSC_PTXAS): LLVM would end the process on what it cannot select, and ptxas refuses what LLVM got
wrong. A row of ops.def that no list below knows is an error, so that a new op lands here too.
"""
import argparse
import os
import re
import subprocess
import sys

INTS = ["i8", "i16", "i32", "i64"]
FLOATS = ["fp16", "bf16", "fp32", "fp64"]
SMALL = ["fp8e4nv", "fp8e5"]
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "fp8e4nv": 8, "fp8e5": 8, "fp16": 16, "bf16": 16, "fp32": 32,
        "fp64": 64}
INFER = {"int2": (2, INTS), "bits2": (2, INTS), "float2": (2, FLOATS), "float1": (1, FLOATS), "float3": (3, FLOATS),
         "math1": (1, ["fp32", "fp64"])}
COMBINES = {"add": INTS, "mul": INTS, "and": INTS, "or": INTS, "xor": INTS, "smax": INTS, "smin": INTS, "umax": INTS,
            "umin": INTS, "fadd": FLOATS, "fmul": FLOATS, "fmax": FLOATS, "fmin": FLOATS, "fmax_nan": FLOATS,
            "fmin_nan": FLOATS}
N = 64


def conversions():
    """(op, from, to) of every conversion."""
    rows = []
    for a in ["i1"] + INTS:
        rows += [(op, a, b) for b in INTS for op in ("sext", "zext") if BITS[a] < BITS[b]]
        rows += [("trunc", a, b) for b in INTS if BITS[a] > BITS[b]]
        rows += [(op, a, b) for b in FLOATS for op in ("sitofp", "uitofp")]
    for a in FLOATS:
        rows += [(op, a, b) for b in INTS for op in ("fptosi", "fptosi_rn", "fptoui")]
    for a in FLOATS + SMALL:
        rows += [("fpext", a, b) for b in FLOATS if BITS[a] < BITS[b]]
        rows += [("fptrunc" + r, a, b) for b in FLOATS + SMALL if BITS[a] > BITS[b] for r in ("", " zero")]
    rows += [("bitcast", "i32", "fp32"), ("bitcast", "fp32", "i32"), ("bitcast", "i16", "fp16"),
             ("bitcast", "bf16", "i16"), ("bitcast", "fp64", "i64"), ("bitcast", "i64", "fp64"),
             ("bitcast", "i8", "fp8e5")]
    return rows


# Elementwise rows tested by name below or by other cases of this folder; every other must have an infer rule in INFER.
ELSEWHERE = set("""icmp fcmp sext zext trunc sitofp uitofp fptosi fptosi_rn fptoui fpext fptrunc bitcast select
addptr""".split())


def read_ops(path):
    """(name, infer) of every row of class ELEMENT."""
    with open(path) as f:
        rows = re.findall(r'^OP\(\w+,\s*"(\w+)",(?:\s*[-\w]+,){3}\s*(\w+),(?:\s*\w+,){5}\s*(\w+),', f.read(), re.M)
    if len(rows) < 60:
        raise SystemExit("ops.py: found only %d rows in %s" % (len(rows), path))
    return [(name, infer) for name, kind, infer in rows if kind == "ELEMENT"]


class Text:
    """One function under construction; every row reads from %p (an address as an integer) and writes there."""

    def __init__(self):
        self.lines, self.n = [], 0

    def value(self, text, type_):
        self.n += 1
        self.lines.append("  %%v%d = %s : %s" % (self.n, text, type_))
        return "%%v%d" % self.n

    def pointers(self, d):
        base = self.value("bitcast %p", "*" + d)
        tile = self.value("splat %s" % base, "tile<%dx*%s>" % (N, d))
        return self.value("addptr %s, %%i" % tile, "tile<%dx*%s>" % (N, d))

    def load(self, d):
        if d == "i1":
            v = self.load("i8")
            return self.value("trunc %s" % v, tile("i1"))
        return self.value("load %s {volatile}" % self.pointers(d), tile(d))

    def store(self, v, d):
        if d == "i1":
            v, d = self.value("zext %s" % v, tile("i8")), "i8"
        self.lines.append("  store %s, %s" % (self.pointers(d), v))

    def function(self):
        return "func @k(%%p: i64) stage tile {\n  %%i = arange 0, %d : tile<%dxi32>\n%s\n  return\n}\n" % (
            N, N, "\n".join(self.lines))


def tile(d):
    return "tile<%dx%s>" % (N, d)


def build(ops):
    """The function and the number of rows in it."""
    t, rows = Text(), 0
    for name, infer in ops:
        if infer not in INFER:
            if name not in ELSEWHERE:
                raise SystemExit("ops.py: no rule for op %s (infer %s)" % (name, infer))
            continue
        count, types = INFER[infer]
        for d in types:
            args = ", ".join(t.load(d) for _ in range(count))
            t.store(t.value("%s %s" % (name, args), tile(d)), d)
            rows += 1
    for op, a, b in conversions():
        name, _, rounding = op.partition(" ")
        braces = " {round = %s}" % rounding if rounding else ""
        t.store(t.value("%s %s%s" % (name, t.load(a), braces), tile(b)), b)
        rows += 1
    for kind, preds, types in (("icmp", "eq ne slt sle sgt sge ult ule ugt uge", INTS),
                               ("fcmp", "eq ne lt le gt ge", FLOATS)):
        for d in types:
            for p in preds.split():
                c = t.value("%s %s %s, %s" % (kind, p, t.load(d), t.load(d)), tile("i1"))
                t.store(t.value("select %s, %s, %s" % (c, t.load(d), t.load(d)), tile(d)), d)
                rows += 1
    return t, rows


def build_reductions():
    t, rows = Text(), 0
    for combine, types in COMBINES.items():
        for d in types:
            r = t.value("reduce %s {axis = 0, combine = %s}" % (t.load(d), combine), d)
            t.lines.append("  store %s, %s" % (t.value("bitcast %p", "*" + d), r))
            rows += 1
    return t, rows


def build_atomics():
    """Every operation on its types, in every order and reach, with its result used and dropped, masked and not."""
    t, rows = Text(), 0
    wide, combines = ["i32", "i64"], "add smax smin umax umin and or xor"
    table = [(c, wide) for c in combines.split()] + [("fadd", FLOATS), ("xchg", wide + ["fp32", "fp64"])]
    table.append(("cas", ["i16", "fp16", "bf16"] + wide + ["fp32", "fp64"]))
    how = ["{order = %s, reach = %s" % (o, r) for o in ("relaxed", "acquire", "release", "acq_rel")
           for r in ("cta", "gpu", "sys")]
    for op, types in table:
        for i, d in enumerate(types * len(how)):
            name, braces = (("atomic_cas", how[i // len(types)] + "}") if op == "cas"
                            else ("atomic_rmw", how[i // len(types)] + ", op = %s}" % op))
            p, x = t.pointers(d), t.load(d)
            values = "%s, %s, %s" % (p, x, x) if op == "cas" else "%s, %s" % (p, x)
            t.value("%s %s %s" % (name, values, braces), tile(d))
            t.store(t.value("%s %s, %s %s" % (name, values, t.load("i1"), braces), tile(d)), d)
            rows += 2
    return t, rows


def compile_one(fsc, arch, path, ptxas):
    ptx = "%s.%s.ptx" % (path, arch)
    subprocess.run([fsc, path, "--emit=ptx", "--arch=" + arch, "-o", ptx], check=True)
    with open(ptx) as f:
        text = f.read()
    for bad in ("div.approx", ".local", "call.uni (retval0), __"):
        if bad in text:
            raise SystemExit("ops.py: %s holds %s" % (ptx, bad))
    if ptxas:
        subprocess.run([ptxas, "-arch=" + arch, "-O1", ptx, "-o", ptx + ".cubin"], check=True)


def self_test():
    """The check must see an op that nobody knows, and PTX that ptxas refuses."""
    try:
        build([("brand_new", "strange")])
    except SystemExit:
        pass
    else:
        raise SystemExit("ops.py: an unknown op went unseen")
    ptxas = os.environ.get("FSC_PTXAS")
    if ptxas:
        bad = subprocess.run([ptxas, "-arch=sm_80", "-", "-o", os.devnull],
                             input=b".version 7.0\n.target sm_80\nnonsense", capture_output=True)
        if bad.returncode == 0:
            raise SystemExit("ops.py: ptxas took nonsense")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsc")
    parser.add_argument("--archs")
    parser.add_argument("--ops")
    parser.add_argument("--out")
    parser.add_argument("--self-test", action="store_true")
    o = parser.parse_args()
    if o.self_test:
        return self_test()
    os.makedirs(o.out, exist_ok=True)
    ptxas, total = os.environ.get("FSC_PTXAS"), 0
    for name, (t, rows) in (("ops", build(read_ops(o.ops))), ("reductions", build_reductions()),
                            ("atomics", build_atomics())):
        path = os.path.join(o.out, name + ".ir")
        with open(path, "w") as f:
            f.write(t.function())
        for arch in o.archs.split(","):
            compile_one(o.fsc, arch, path, ptxas)
            total += rows
    print("ops.py: %d rows, ptxas %s" % (total, "ran" if ptxas else "not found: PTX was not assembled"))


if __name__ == "__main__":
    sys.exit(main())
