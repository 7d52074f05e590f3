# Every builtin, called wrongly in every way: too few and too many arguments, unknown and misspelt names, an argument
# twice, and each parameter with each of VALUES. What the compiler says stands in Inputs/wrong_calls.txt, to be read by
# people; `wrong_calls.py FSC --bless` writes it anew. Whatever it says: one error a call, on its line, at the argument
# or the call, that names the builtin or the parameter; and what is accepted becomes PTX.
# RUN: %python %s fsc
"""wrong_calls.py FSC [--bless] [NAME...]: of these builtins only, and printed."""
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "wrong_calls.txt")

HEAD = """
@jit
def plus(a, b):
    return a + b

@kernel(grid=(1,), num_warps=1)
def k(p: *fp32, pi: *i32, c: *const fp32, n: i32, s: fp32):
    i = arange(0, 16)
    t = load(p + i)
    ti = load(pi + i)
    b = t > 0.0
    q = p + i
    w = load(p + arange(0, 8))
    m = load(p + arange(0, 4)[:, None] * 8 + arange(0, 8)[None, :])
    h = load(p + arange(0, 8)[:, None] * 2 + arange(0, 2)[None, :])
    u = ti.to(u32)
    g = m.to(bf16)
    k = make_block_ptr(p, (n,), (1,), (0,), (16,), (0,))
    d = make_tensor_descriptor(p, (n,), (1,), (16,))
    e = make_tensor_descriptor(pi, (n,), (1,), (16,))
    r = make_tensor_descriptor(p, (n, n), (n, 1), (1, 16))
"""

# What stands for a parameter: its text in a call, and how messages describe it.
VALUES = {
    "1": "the int 1", "3": "the int 3", "-9": "the int -9", "1 << 40": "the int 1099511627776", "0.5": "the float 0.5",
    "True": "the bool True", "None": "None", "'s'": 'the string "s"', "fp32": "the type fp32",
    "plus": "the function plus", "exp": "the builtin exp", "tl": "the module tl", "(16, 2)": "a tuple of 2",
    "()": "a tuple of 0", "p": "*fp32", "n": "i32", "s": "fp32", "t": "tile<16xfp32>", "ti": "tile<16xi32>",
    "b": "tile<16xi1>", "q": "tile<16x*fp32>", "w": "tile<8xfp32>", "m": "tile<4x8xfp32>",
}

# A right call of each builtin: what stands for its parameters that have no default.
RIGHT = {
    "program_id": "0", "num_programs": "0",
    "arange": "0, 16", "full": "(16,), 1.0", "zeros": "(16,)", "zeros_like": "t", "cast": "t, fp16", "to": "t, fp16",
    "broadcast": "t, s", "broadcast_to": "t, (4, 16)", "expand_dims": "t, 0", "reshape": "t, (4, 4)",
    "view": "t, (4, 4)", "ravel": "m", "squeeze": "m[None, :, :], 0", "unsqueeze": "t, 0", "trans": "m",
    "permute": "m, (1, 0)", "join": "t, t", "split": "h", "dot": "m, m.T",
    "dot_scaled": "g, None, 'bf16', g.T, None, 'bf16'",
    "make_block_ptr": "p, (n,), (1,), (0,), (16,), (0,)", "advance": "k, (1,)",
    "make_tensor_descriptor": "p, (n,), (1,), (16,)", "load_tensor_descriptor": "d, (1,)",
    "store_tensor_descriptor": "d, (1,), t", "gather_tensor_descriptor": "r, ti, 0",
    "scatter_tensor_descriptor": "r, s, ti, 0", "interleave": "t, t", "cat": "t, t", "gather": "t, ti, 0", "flip": "t",
    "load": "q", "store": "q, t", "where": "b, t, t", "maximum": "t, t", "minimum": "t, t", "clamp": "t, s, s",
    "add": "t, t", "sub": "t, t", "mul": "t, t", "abs": "t", "fma": "t, t, t", "fdiv": "t, t", "div_rn": "t, t",
    "umulhi": "ti, ti", "cdiv": "ti, n", "pow": "t, t", "sigmoid": "t", "isnan": "t", "isinf": "t", "softmax": "t",
    "sum": "t", "max": "t", "min": "t", "xor_sum": "ti", "reduce_or": "ti", "argmax": "t", "argmin": "t",
    "reduce": "t, 0, plus", "associative_scan": "t, 0, plus", "cumsum": "t", "cumprod": "t", "sort": "t",
    "topk": "t, 4", "histogram": "ti, 4", "atomic_cas": "pi, n, n", "philox": "n, n, n, n, n",
    "philox_impl": "u, u, u, u, u, u", "randint": "n, i", "randint4x": "n, i", "rand": "n, i", "rand4x": "n, i",
    "uint_to_uniform_float": "u", "randn": "n, i", "randn4x": "n, i", "pair_uniform_to_normal": "t, t",
    "swizzle2d": "n, n, n, n, n", "assume": "n > 0", "multiple_of": "n, 16", "max_contiguous": "i, 16",
    "max_constancy": "i, 16", "debug_barrier": "", "static_assert": "True", "static_print": "",
    "gdc_wait": "", "gdc_launch_dependents": "",
    "device_print": "'t', t", "print": "t", "device_assert": "b", "constexpr": "3", "next_power_of_2": "9",
    "len": "(1, 2)", "int": "3", "float": "3", "bool": "3", "isinstance": "3, int", "hasattr": "t, 'sum'",
    "getattr": "t, 'shape'", "map_elementwise": "plus, t, t", "logical_and": "t, t", "logical_or": "t, t",
    "item": "s", "to_tensor": "s", "expect_zero": "t, b",
    "inline_asm_elementwise": "'mov.b32 $0,$1;', '=r,r', (t,), fp32", "tensor": "t", "str": "3",
    "pointer_type": "fp32", "range": "n", "static_range": "3",
}
RIGHT.update(dict.fromkeys("exp exp2 log log2 sqrt rsqrt sqrt_rn floor ceil trunc round rint nearbyint expm1 log1p sin "
                           "cos tanh "
                           "erf libdevice.round exp10 log10 tan asin acos atan sinh cosh asinh acosh atanh erfc cbrt "
                           "rcbrt sinpi cospi "
                           "logb ilogb isfinited finitef signbit "
                           "erfcx erfinv erfcinv normcdf normcdfinv lgamma".split(), "t"))
RIGHT.update(dict.fromkeys("popc clz ffs brev".split(), "ti"))
RIGHT.update(dict.fromkeys("mulhi hadd rhadd".split(), "ti, ti"))
RIGHT.update(dict.fromkeys("sad byte_perm".split(), "ti, ti, ti"))
RIGHT.update(tuple="(1, 2)", namedtuple="'P', ('x', 'y')", finfo="fp32", iinfo="i32", condition="n > 0")
RIGHT.update(dict.fromkeys("atan2 hypot rhypot fmod remainder fdim copysign nextafter fmin fmax".split(), "t, t"))
RIGHT.update(dict.fromkeys("ldexp scalbn".split(), "t, ti"))
RIGHT.update(dict.fromkeys("atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg".split(),
                           "pi, n"))

RIGHT["tensor_descriptor"] = "d"
RIGHT.update(dict.fromkeys(["atomic_%s_tensor_descriptor" % w for w in "add max min and or xor".split()], "e, 0, ti"))

# What one parameter needs beside it.
BESIDE = {"load.other": ["b"]}

ORIGIN = re.compile(r"'(\w+)'(, the '\w+' of '\w+',)? is .*, from here$")

GIVEN_UP = "E0902"  # the kernel, at some place in it: what follows is not looked at

# Sentences about a size, a literal, or two types side by side say what is wrong without the builtin's name.
SIZES = ("E0301", "E0304", "E0308", "E0311", "E0312", "E0313", "E0314", "E0323")

# Wrong in their values, not in their kinds.
MORE = """
arange(0, 3)  arange(4, 4)  arange(8, 0)  arange(0, 1 << 21)  arange(-3000000000, 16)  full((3,), 1.0)
full((16, 0), 1.0)  full((2, 2, 2, 2, 2, 2, 2, 2), 0)
full((16,), 300, i8)  full((16,), -1, u32)  full((1024, 2048), 0.0)
zeros((-4,))  zeros((16, 2.0))  zeros((n,))  zeros(16, 16)  cast(t, *i8)  to(t, fp16, bitcast=True)
cast(p, fp32)  t.to(fp16, 'up')  broadcast(t, w)  broadcast_to(t, (16, 4))  broadcast_to(t, 8)
broadcast_to(m, 4, 16)  expand_dims(t, 2)  expand_dims(t, -3)  reshape(t, (4, 8))  reshape(t, 3, 5)  t.reshape(4, -1)
view(t, (17,))  squeeze(t, 0)  squeeze(t, 1)  unsqueeze(t, 2)  trans(t)  trans(m, 0, 0)  trans(m, 0, 2)
permute(m, (1,))  permute(m, 0, 1, 2)  join(t, w)  join(t, ti)  split(t)  split(m)  interleave(t, w)
interleave(t, ti)  cat(t, w)  cat(t, ti)  cat(t, t, dim=1)  gather(t, ti, 1)  gather(m, ti, 0)  gather(t, t, 0)
flip(t, 1)  flip(m, -3)  load(q, m > 0.0)  load(p, b)  load(q, b, w)  load(t + i)  load(q, b, 0.0, (0,))
load(q, padding_option='zero')  load(q, cache_modifier='.cq')  load(q, eviction_policy='first')
store(q, w)  store(p, t)  store(q, t, w > 0.0)  store(c + i, t)  store(q, t, cache_modifier='.ca')
store(pi + i, 1 << 40)  where(b, t, w)  where(w > 0.0, t, t)  where(b, q, t)  where(b, q, pi + i)  maximum(t, w)
clamp(t, w, 1.0)  clamp(t, 1.0, w)  add(t, w)  add(q, q)  add(q, 0.5)  mul(q, 2)  fma(t, w, t)  fma(t, t, w)
fdiv(t, w)  div_rn(t, w)  div_rn(ti, ti)  umulhi(ti.to(i8), 3)  umulhi(ti, w)  cdiv(ti, u)  cdiv(7, 0)  cdiv(t, t)
pow(t, w)  pow(ti, -1)  pow(ti, ti)  sum(t, 1)  sum(m, -3)  sum(s, 0)  max(t, w)  tl.max(t, 2)
max(t, ti, w)  argmin(m, 2)  xor_sum(t, 0)  reduce_or(ti, 1)  reduce(t, 1, plus)  reduce((t, w), 0, plus)
reduce((t, t), 0, plus)  reduce(t, 0, maximum)  reduce((), 0, plus)  associative_scan(t, 1, plus)
associative_scan((t, w), 0, plus)  cumsum(t, 1)  cumsum((t, t))  cumprod(m, -3)  sort(t, 1)  sort(q)  topk(t, 3)
topk(t, 32)  topk(t, 0)  topk(m, 2, 2)  histogram(t, 4)  histogram(ti, 3)  histogram(ti, 0)  histogram(ti, 4, w > 0.0)
atomic_add(c, 1.0)  atomic_add(q, w)  atomic_add(p, t)  atomic_and(p, 1)
atomic_max(q.to(pointer_type(fp16)), 1.0)  atomic_add(pi, 0.5, sem='relaxd')  atomic_add(pi, 1, scope='block')
atomic_cas(q, w, t)  atomic_cas(q, t, w)  atomic_cas(pi, 1)  atomic_xchg(pi, 1 << 40)  atomic_add(pi + i, 1, w > 0.0)
dot(m, m)  dot(t, m)  dot(m, w[:, None].to(fp16))  dot(m > 0, m.T > 0)  dot(m, m.T, m)  dot(m, m.T, out_dtype=bf16)
dot(m, m.T, None, 'fp32')  dot(m, m.T, None, 'tf32', True)  dot(m, m.T, max_num_imprecise_acc=-1)  dot(m, m.T, t)
program_id(3)  num_programs(-1)  rand(n, t)  rand(t, i)  randint(i, w)  randn(n, i, n)  philox(n, t, 0, 0, 0)
multiple_of(n, 0)  multiple_of(i, (16, 3, -1))  max_contiguous(i, n)  assume(1 > 2)  assume(b)  static_assert(n > 0)
static_assert(1 > 2, n)  static_assert(1 > 2)  static_assert(False, 'no')  device_print(t)  device_print('t', 's')
device_assert(t)  device_assert(b, mask=w > 0.0)  constexpr(n)  next_power_of_2(n)  len(n)  len(3)  int(n)  int('x')
float('x')  float(n)  bool(n)  str(n)  isinstance(3, exp)  isinstance(3, 3)  pointer_type(p)  tensor(t)  softmax(t, 1)
t.exp(1)  t.sum(1)  t.sum(axes=0)  t.max(0, 1, 2, 3, 4, 5, 6)  t.to(3)  t.load()  t.expp()  t.reshape()
t.broadcast_to(8)  t.store(t)  n.to()  tl.laod(q)  tl.math.expp(t)  libdevice.expo(t)
""".split("\n")


def interface(fsc):
    """{name: [(parameter, whether it may be left out)]} of all builtins that are compiled."""
    listed = subprocess.run([fsc, "--list-builtins"], check=True, text=True, capture_output=True).stdout
    rows = re.findall(r"^([\w.]+)\((.*)\)$", listed, re.M)
    return {name: [(p.strip("= "), "=" in p) for p in params.split(",") if p.strip()] for name, params in rows}


def statement(name, arguments):
    call = "%s(%s)" % (name, ", ".join(arguments))
    return "for j in %s: pass" % call if name in ("range", "static_range") else call


def counts(name, params, right):
    """Calls with too few and too many arguments, and with names that do not fit, in the golden file's words."""
    for n in range(len(right)):
        yield statement(name, right[:n])
    filled = right + [right[-1] if right else "1"] * (len(params) - len(right))
    yield statement(name, filled + ["1"])
    yield statement(name, right + ["bogus=1"])
    if not params:
        return
    first, last = params[0][0], params[-1][0]
    if right:
        yield statement(name, right + ["%s=%s" % (first, right[0])])
    near = last[:-1] + last[-2:-3:-1] + last[-1] if len(last) > 2 else last + last
    yield statement(name, right + ["%s=1" % near])
    if len(params) > len(right):
        yield statement(name, right + ["%s=None" % last, "%s=None" % last])


def values(params, name, right):
    """(parameter, value, call) of each parameter with each value in its place."""
    for index, (param, optional) in enumerate(params):
        for value in VALUES:
            if index < len(right):
                arguments = right[:index] + [value] + right[index + 1:]
            else:
                arguments = right + BESIDE.get(name + "." + param, []) + ["%s=%s" % (param, value)]
            yield param, value, statement(name, arguments)


def compile_lines(fsc, folder, lines, emit):
    """(exit code, {line of HEAD + lines, from 0: [diagnostics]}, the diagnostics elsewhere)"""
    path = os.path.join(folder, "k.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(HEAD + "".join("    %s\n" % line for line in lines))
    done = subprocess.run([fsc, path, "--arch=sm_80", "--emit=" + emit, "--diagnostics-format=json", "--error-limit=0",
                           "-o", "-", "--device-debug"], text=True, capture_output=True, timeout=120, cwd=folder)
    first = HEAD.count("\n") + 1
    found, elsewhere = {}, []
    try:
        diagnostics = json.loads(done.stderr)["diagnostics"]
    except ValueError:
        return done.returncode, {}, [{"message": "no diagnostics: " + done.stderr[:2000]}]
    for d in diagnostics:
        if d["severity"] == "note" and "column" in d:
            continue
        if d.get("line", 0) >= first:
            found.setdefault(d["line"] - first, []).append(d)
        elif d["severity"] == "error":
            elsewhere.append(d)
    return done.returncode, found, elsewhere


class Case:
    def __init__(self, call, param=None, value=None):
        self.call, self.param, self.value = call, param, value
        self.diagnostics = []

    def sentence(self):
        """What was said, on one line; the value's description is replaced,
        so that calls with one answer are one line."""
        parts = []
        for d in self.diagnostics:
            whole = self.place(d) == "the call"
            parts.append("%s [%s]%s" % (self.masked(d["message"]), d["code"], " at the call" if whole and self.param
                                        else ""))
            parts += [self.note(note) for note in d["notes"]]
        return " | ".join(parts)

    def masked(self, text):
        """`…` for the last mention of the value."""
        if self.value is None:
            return text
        before, found, after = text.rpartition(VALUES[self.value])
        return before + "…" + after if found else text

    def note(self, note):
        """The note, of a name without its line, which problems() looks at."""
        origin = ORIGIN.match(note["message"])
        if not origin:
            return self.masked(note["message"])
        name, param = ("…" if origin.group(1) == self.value else "'%s'" % origin.group(1)), origin.group(2) or ""
        return "%s%s is …, from here" % (name, param)

    def place(self, d):
        start, end = 5, 5 + len(self.call)  # columns of the statement
        if self.call.startswith("for "):
            start, end = start + len("for j in "), end - len(": pass")
        a, b = d["column"], d["end_column"]
        if (a, b) == (start, end):
            return "the call"
        return self.call[a - 5:b - 5] if start <= a < b <= end else "outside"

    def problems(self, name):
        errors = [d for d in self.diagnostics if d["severity"] == "error" and d["code"] != GIVEN_UP]
        if len(errors) > 1:
            yield "%d errors" % len(errors)
        for d in errors:
            if self.place(d) == "outside":
                yield "the caret is at columns %d to %d" % (d["column"], d["end_column"])
            elif self.param and VALUES[self.value] not in d["message"] and d["code"] not in ("E0316", "E0323") and \
                    self.place(d) not in ("the call", self.value, "%s=%s" % (self.param, self.value)):
                yield "the caret is at '%s'" % self.place(d)
            for note in d["notes"]:
                origin = ORIGIN.match(note["message"])
                line = HEAD.split("\n")[note["line"] - 1] if origin and note["line"] <= HEAD.count("\n") else ""
                if origin and not re.search(r"^    %s = |^def .*\b%s: " % (origin.group(1), origin.group(1)), line):
                    yield "'%s' does not come from: %s" % (origin.group(1), line)
            said = d["message"] + " ".join(note["message"] for note in d["notes"])
            names = [name.split(".")[-1], *([self.param] if self.param else [])]
            if d["code"] not in SIZES and not any(re.search(r"(?<!\w)%s(?!\w)" % re.escape(w), said) for w in names):
                yield "names neither the builtin nor the parameter: " + d["message"]
            if re.search(r"LLVM|internal", said):
                yield "says " + d["message"]


def answer(fsc, folder, cases):
    """Fills in the diagnostics of the cases, and yields what is wrong beyond a single case."""
    rest = cases
    while rest:
        code, found, elsewhere = compile_lines(fsc, folder, [case.call for case in rest], "tile")
        last = len(rest)
        for line, diagnostics in sorted(found.items()):
            rest[line].diagnostics = [d for d in diagnostics if d["severity"] == "error"]
            if any(d["code"] == GIVEN_UP for d in diagnostics):  # given up: the others follow without it
                last = line + 1
        if elsewhere or code not in (0, 1):
            yield "exit code %d: %s" % (code, [d["message"] for d in elsewhere])
        rest = rest[last:]
    fine = [case.call for case in cases if not case.diagnostics]
    code, found, elsewhere = compile_lines(fsc, folder, fine or ["pass"], "ptx")
    wrong = [d["message"] for some in found.values() for d in some if d["severity"] == "error"] + elsewhere
    if code != 0:
        yield "the accepted calls do not become PTX: exit code %d: %s" % (code, wrong)


def paragraph(name, params, cases):
    """The golden file's lines on a builtin."""
    out = ["%s(%s)" % (name, ", ".join(p + "=" * optional for p, optional in params))]
    for case in cases:
        if not case.param:
            out.append("  %s: %s" % (case.call, case.sentence() or "compiles"))
    for param, _ in params:
        groups = {}
        for case in cases:
            if case.param == param:
                groups.setdefault(case.sentence(), []).append(case.value)
        for said, group in groups.items():
            out.append("  %s = %s: %s" % (param, ", ".join(group), said or "compiles"))
    return out


def main():
    fsc, words = os.path.abspath(sys.argv[1]), [w for w in sys.argv[2:] if not w.startswith("--")]
    builtins = interface(fsc)
    more = [case for line in MORE for case in re.split(r"(?<=\))\s+(?=[a-z])", line.strip()) if case]
    text, wrong = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, params in builtins.items():
            if words and name not in words:
                continue
            if name not in RIGHT:
                wrong.append("%s: it has no right call here" % name)
                continue
            right = [a.strip() for a in re.findall(r"(?:'[^']*'|\([^()]*\)|\[[^\[\]]*\]|[^,()\[\]])+", RIGHT[name])
                     if a.strip()]
            cases = [Case(call) for call in counts(name, params, right)]
            cases += [Case(call, param, value) for param, value, call in values(params, name, right)]
            wrong += ["%s: %s" % (name, w) for w in answer(fsc, folder, cases)]
            wrong += ["%s: %s" % (case.call, w) for case in cases for w in case.problems(name)]
            text += paragraph(name, params, cases) + [""]
        if not words:
            cases = [Case(call) for call in more]
            wrong += ["more: " + w for w in answer(fsc, folder, cases)]
            wrong += ["%s: %s" % (case.call, w) for case in cases
                      for w in case.problems(re.match(r"(?:\w+\.)*(\w+)", case.call).group(1))
                      if "names neither" not in w]
            wrong += ["%s: compiles" % case.call for case in cases if not case.diagnostics]
            text += ["By their values"] + ["  %s: %s" % (case.call, case.sentence()) for case in cases]
    report = "\n".join(text) + "\n"
    if words or "--bless" in sys.argv:
        if words:
            print(report)
        else:
            open(GOLDEN, "w", encoding="utf-8").write(report)
    else:
        shown = open(GOLDEN, encoding="utf-8").read()
        wrong += list(difflib.unified_diff(shown.split("\n"), report.split("\n"), "expected", "said", n=0, lineterm=""))
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
