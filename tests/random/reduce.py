"""reduce.py - a failing kernel made small: a kernel that still fails in the same manner,
and from which nothing more can go.

In: a Program and a judge, which says whether a changed program still fails so. Out: the program, changed in place.
Method: changes are tried one by one and undone if the judge says no: statements deleted from the end, branches replaced
by an arm, expressions by a part of theirs or by zeros, optional operands dropped, then grid, warps, sizes and data
shrunk. An ill-defined kernel is no failure: the evaluator refuses it.
"""
import time

import numpy as np

from nodes import Node, walk, walk_program


class Reducer:
    def __init__(self, program, judge, seconds, clock):
        self.p, self.judge, self.clock, self.end = program, judge, clock, clock() + seconds
        self.tests = 0

    def keeps(self, undo):
        """After a change: still the same failure, or the change is undone."""
        self.tests += 1
        if self.clock() < self.end and self.judge(self.p):
            return True
        undo()
        return False

    def run(self):
        changed = True
        while changed and self.clock() < self.end:
            changed = self.statements()
            changed |= self.expressions()
            changed |= self.globals()
        self.unused()
        return self.p

    # ---- Statements --------------------------------------------------------------------------------------------------

    def blocks(self):
        """Every list of statements, outer ones first."""
        found = [f["body"] for f in self.p.functions] + [self.p.body]
        for b in found:
            for s in b:
                found += s.blocks
        return found

    def statements(self):
        changed = False
        for size in (8, 4, 2, 1):
            for block in self.blocks():
                at = len(block) - size
                while at >= 0:
                    changed |= self.without(block, at, size)
                    at -= size if size > 1 else 1
        for block in self.blocks():
            for at in range(len(block) - 1, -1, -1):
                for inner in block[at].blocks if at < len(block) else []:
                    if self.splice(block, at, inner):
                        changed = True
                        break
        return changed

    def without(self, block, at, size):
        return self.splice(block, at, [], size)

    def splice(self, block, at, new, size=1):
        old = block[at:at + size]
        if not old or len(old) < size:
            return False
        block[at:at + size] = new

        def undo():
            block[at:at + len(new)] = old

        return self.keeps(undo)

    # ---- Expressions -------------------------------------------------------------------------------------------------

    def slots(self):
        """(list, index) of every expression, outer ones first."""
        found = []
        for f in self.p.functions:
            found += [(f["results"], i) for i in range(len(f["results"]))]
        for n in walk_program(self.p):
            found += [(n.kids, i) for i, k in enumerate(n.kids) if k is not None]
        return found

    def expressions(self):
        changed, at = False, 0
        while self.clock() < self.end:
            slots = self.slots()
            if at >= len(slots):
                return changed
            kids, i = slots[at]
            if self.smaller(kids, i):
                changed = True
            else:
                at += 1
        return changed

    def smaller(self, kids, i):
        n = kids[i]
        for other in self.candidates(n):
            kids[i] = other
            if self.keeps(lambda: kids.__setitem__(i, n)):
                return True
        for k in range(1, len(n.kids)) if n.kind == "load" else []:
            if n.kids[k] is not None:
                old, n.kids[k] = n.kids[k], None
                if self.keeps(lambda: n.kids.__setitem__(k, old)):
                    return True
        if n.a.get("options") and n.kind == "load":
            old, n.a["options"] = n.a["options"], ""
            if self.keeps(lambda: n.a.__setitem__("options", old)):
                return True
        return False

    def candidates(self, n):
        if n.kind in ("const", "ptr", "full", "zeros"):
            if n.kind == "const" and n.dtype[0] in "iu" and n.dtype != "i1" and n.a["value"] not in (0, 1):
                for value in (0, 1, 2, n.a["value"] // 2):
                    if abs(value) < abs(n.a["value"]):
                        yield Node("const", (), n.dtype, (), value=value)
            return
        below = [k for k in walk(n) if k is not n and k.dtype == n.dtype and k.shape == n.shape and k.kind != "const"]
        yield from below[:6]
        if n.dtype.startswith("ptr") or (n.kind == "var" and n.shape == ()):
            return
        for value in (0, 1):
            yield Node("full", (), n.dtype, n.shape, value=bool(value) if n.dtype == "i1" else value)

    # ---- The rest ----------------------------------------------------------------------------------------------------

    def set(self, owner, name, value):
        old = getattr(owner, name)
        if repr(old) == repr(value):
            return False
        setattr(owner, name, value)
        return self.keeps(lambda: setattr(owner, name, old))

    def globals(self):
        changed = any([self.unused()])
        p = self.p
        for grid in ((1, 1, 1), (p.grid[0], 1, 1), (2, 1, 1), (3, 1, 1)):
            if np.prod(grid) < np.prod(p.grid):
                changed |= self.set(p, "grid", grid)
        for warps in (1, 2, 4):
            if warps < p.num_warps:
                changed |= self.set(p, "num_warps", warps)
        for ctas in (1, 2):
            if ctas < p.num_ctas:
                changed |= self.set(p, "num_ctas", ctas)
        for b in p.buffers:
            changed |= self.set(b, "offset", 0)
            if b.data is not None:
                changed |= self.set(b, "data", np.zeros_like(b.data))
        for s in list(walk_program(p)):
            if s.kind == "for" and s.a.get("form") != "range":
                changed |= self.attribute(s, "form", "range")
            if s.kind == "for" and s.a.get("stages"):
                changed |= self.attribute(s, "stages", 0)
        return changed | self.halve()

    def attribute(self, n, name, value):
        old, n.a[name] = n.a.get(name), value
        return self.keeps(lambda: n.a.__setitem__(name, old))

    def halve(self):
        """Each size of a dimension, everywhere at once."""
        nodes = list(walk_program(self.p))
        for size in sorted({d for n in nodes if n.shape for d in n.shape if d > 1}, reverse=True):
            old = [(n, n.shape, n.a.get("name") if n.kind == "arange" else None) for n in nodes if n.shape is not None]
            functions = [(f, f["params"]) for f in self.p.functions]
            for n, shape, _ in old:
                n.shape = tuple(size // 2 if d == size else d for d in shape)
                if n.kind == "arange":
                    n.a["name"] = None

            for f, params in functions:
                f["params"] = [(a, t, tuple(size // 2 if d == size else d for d in s)) for a, t, s in params]

            def undo():
                for n, shape, name in old:
                    n.shape = shape
                    if n.kind == "arange":
                        n.a["name"] = name
                for f, params in functions:
                    f["params"] = params

            if self.keeps(undo):
                return True
        return False

    def unused(self):
        """Functions, parameters and buffers that nothing names any more go."""
        p = self.p
        names = {n.a[key] for n in walk_program(p) for key in ("name", "function") if n.a.get(key)}
        kept = dict(functions=[f for f in p.functions if f["name"] in names], consts=[c for c in p.consts if any(
            n.kind == "arange" and n.a.get("name") == c[0] for n in walk_program(p))],
            scalars=[s for s in p.scalars if s[0] in names], pointers=[x for x in p.pointers if x[0] in names])
        used = {b for _, b, _ in kept["pointers"]}
        kept["buffers"] = [b for b in p.buffers if b.name in used]
        changed = False
        for name, value in kept.items():
            if len(value) < len(getattr(p, name)) and (name != "buffers" or len(p.pointers) == len(kept["pointers"])):
                old = getattr(p, name)
                setattr(p, name, value)
                changed |= self.keeps(lambda: setattr(p, name, old))
        return changed


def reduce(program, outcome, ask, seconds=60, clock=time.monotonic):
    """The smallest kernel found in that time that fails as `outcome` says; ask(program) runs one."""
    def judge(p):
        return ask(p).same(outcome)

    small = program.clone()
    return Reducer(small, judge, seconds, clock).run() if judge(small) else program
