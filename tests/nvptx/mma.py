# RUN: %python %s --fsc fsc --archs sm_75,sm_80,sm_89,sm_90 --rows %S/../../compiler/layout/mma.def --out %t.d
"""mma.py - every matrix instruction of mma.def × arch, through the whole GPU path: PTX holds it and ptxas takes it.

Writes one tile IR function per row: both operands are loaded, and of two fragments along each dimension; by four warps.
An arch that lacks the instruction is an error that names it. Assembles the PTX where a ptxas is found (FSC_PTXAS).
"""
import argparse
import os
import re
import subprocess
import sys

DTYPES = {"F16": "fp16", "BF16": "bf16", "TF32": "fp32", "E4M3": "fp8e4nv", "E5M2": "fp8e5", "S8": "i8", "U8": "i8",
          "F64": "fp64", "F32": "fp32", "S32": "i32"}


def read_rows(path):
    """(name, types of a, b, c, m, n, k) of each row."""
    with open(path) as f:
        found = re.findall(r'^MMA\(\w+,\s*"([^"]+)",\s*(\w+),\s*(\w+),\s*(\w+),\s*(\d+),\s*(\d+),\s*(\d+),', f.read(),
                           re.M)
    if len(found) < 17:
        raise SystemExit("mma.py: found only %d rows in %s" % (len(found), path))
    return [(name, (a, b, c), int(m), int(n), int(k)) for name, a, b, c, m, n, k in found]


class Text:
    def __init__(self):
        self.lines, self.n = [], 0

    def value(self, text, type_):
        self.n += 1
        self.lines.append("  %%v%d = %s : %s" % (self.n, text, type_))
        return "%%v%d" % self.n

    def pointers(self, d, rows, cols):
        """To consecutive elements behind %p."""
        def tile(r, c, what):
            return "tile<%dx%dx%s>" % (r, c, what)
        i = self.value("expand_dims %s {axis = 1}" % self.value("arange 0, %d" % rows, "tile<%dxi32>" % rows),
                       tile(rows, 1, "i32"))
        i = self.value("mul %s, %s" % (i, self.value("const %d" % cols, tile(rows, 1, "i32"))), tile(rows, 1, "i32"))
        j = self.value("expand_dims %s {axis = 0}" % self.value("arange 0, %d" % cols, "tile<%dxi32>" % cols),
                       tile(1, cols, "i32"))
        i, j = (self.value("broadcast %s" % x, tile(rows, cols, "i32")) for x in (i, j))
        base = self.value("splat %s" % self.value("bitcast %p", "*" + d), tile(rows, cols, "*" + d))
        return self.value("addptr %s, %s" % (base, self.value("add %s, %s" % (i, j), tile(rows, cols, "i32"))),
                          tile(rows, cols, "*" + d))


def function(row):
    name, types, m, n, k = row
    t, args = Text(), []
    for type_, (rows, cols) in zip(types, ((2 * m, 2 * k), (2 * k, 4 * n), (2 * m, 4 * n))):
        d = DTYPES[type_]
        args.append(t.value("load %s {volatile}" % t.pointers(d, rows, cols), "tile<%dx%dx%s>" % (rows, cols, d)))
    d = DTYPES[types[2]]
    r = t.value("mma %s {instr = %s, warps_m = 2}" % (", ".join(args), name), "tile<%dx%dx%s>" % (2 * m, 4 * n, d))
    t.lines.append("  store %s, %s" % (t.pointers(d, 2 * m, 4 * n), r))
    return "func @k(%%p: i64) stage tile warps 4 {\n%s\n  return\n}\n" % "\n".join(t.lines)


def ptx_name(row):
    """As PTX writes it: all four types, d's first."""
    name, (a, b, c), m, n, k = row
    return "mma.sync.aligned.m%dn%dk%d.row.col%s" % (m, n, k, "".join("." + x.lower() for x in (c, a, b, c)))


def compile_one(o, row, arch, ptxas):
    """Whether the arch has it."""
    base = os.path.join(o.out, "%s.%s" % (row[0], arch))
    with open(base + ".ir", "w") as f:
        f.write(function(row))
    done = subprocess.run([o.fsc, base + ".ir", "--emit=ptx", "--arch=" + arch, "-o", base + ".ptx"],
                          capture_output=True, text=True)
    if done.returncode == 1 and "error: %s needs sm_" % row[0] in done.stderr:
        return False
    if done.returncode:
        raise SystemExit("mma.py: %s for %s: %s" % (row[0], arch, done.stderr))
    with open(base + ".ptx") as f:
        text = f.read()
    if text.count(ptx_name(row)) != 4:  # a row and two columns of fragments a warp, two steps along k
        raise SystemExit("mma.py: %s.ptx holds %s %d times" % (base, ptx_name(row), text.count(ptx_name(row))))
    if ptxas:
        subprocess.run([ptxas, "-arch=" + arch, "-O1", base + ".ptx", "-o", base + ".cubin"], check=True)
    return True


def main():
    parser = argparse.ArgumentParser()
    for name in ("fsc", "archs", "rows", "out"):
        parser.add_argument("--" + name)
    o = parser.parse_args()
    os.makedirs(o.out, exist_ok=True)
    rows, ptxas = read_rows(o.rows), os.environ.get("FSC_PTXAS")
    for arch in o.archs.split(","):
        has = [row[0] for row in rows if compile_one(o, row, arch, ptxas)]
        lacks = [row[0] for row in rows if row[0] not in has]
        sm = int(arch[3:])
        want = [r[0] for r in rows if sm >= 89 or (sm >= 80 and "e4m3" not in r[0] and "e5m2" not in r[0]) or
                (sm >= 75 and (r[0].startswith("m8n8k16.") or r[0] == "m16n8k8.f16"))]
        if has != want:
            raise SystemExit("mma.py: %s has %s, and lacks %s" % (arch, has, lacks))
        print("mma.py: %s: %d instructions, ptxas %s" % (arch, len(has),
                                                         "ran" if ptxas else "not found: PTX was not assembled"))


if __name__ == "__main__":
    sys.exit(main())
