"""test_wide.py - integers that overflow: a value in its own type and its exact form in 64 bits travel apart, through
branches, loops and returns; and a scalar that is 1 means the same as any other.
"""
import numpy as np

from case import case, same_bits

TOP = 2 ** 31 - 1


def wrap(x, bits=32):
    return (x + 2 ** (bits - 1)) % 2 ** bits - 2 ** (bits - 1)


def stored(bench, source, *args, dtype="i32", count=1):
    o = bench.buffer(dtype, count)
    bench.run("@kernel(grid=(1,))\n" + source, o, *args)
    return o.read()


# Each body sees n + n wrapped to -2 for n = 2**31 - 1, and exact where it is compared or moves a pointer.
MERGES = {
    "choice": "    y = maximum(n + n, 5) if c > 0 else 0\n",
    "branch": "    y = 0\n    if c > 0:\n        y = maximum(n + n, 5)\n",
    "both": "    if c > 0:\n        y = maximum(n + n, 5)\n    else:\n        y = minimum(n + n, c)\n",
    "absolute": "    y = abs(maximum(n + n, -1)) if c > 0 else 0\n    y += 6\n",
    "early": "    if c < 0:\n        return\n    else:\n        y = maximum(n + n, 5)\n",
    "for": "    y = 0\n    for i in range(0, c):\n        y = maximum(n + n, 5)\n",
    "while": "    y = 0\n    i = 0\n    while i < c:\n        y = maximum(n + n, 5)\n        i += 1\n",
    "break": "    y = 0\n    for i in range(0, c):\n        y = maximum(n + n, 5)\n        if y > 3:\n            "
             "break\n",
    "nested": "    y = 0\n    for i in range(0, c):\n        if i > 1:\n            for j in range(0, i):\n"
              "                y = maximum(n + n, 5)\n",
}


@case(form=list(MERGES))
def merged_maximum(bench, form):
    got = stored(bench, "def k(o: *i32, n: i32, c: i32):\n" + MERGES[form] + "    store(o, y)\n", TOP, 7)
    same_bits(got, np.array([7 if form == "absolute" else 5], np.int32), form)


@case(divisor=[7, 1000, 4096])
def remainder_moves_pointer(bench, divisor):
    """The remainder of a sum that wraps is that of the sum itself where it moves a pointer, not where it is stored."""
    n = 2 ** 31 - 1
    exact = (2 * n + np.arange(4)) % divisor
    o = bench.buffer("i32", 4096)
    bench.run("@kernel(grid=(1,))\ndef k(o: *i32, n: i32, d: i32):\n    i = (n + n + arange(0, 4)) % d\n"
              "    store(o + i, i)\n", o, n, divisor)
    same_bits(o.read()[exact], np.fmod(wrap(2 * n + np.arange(4)), divisor).astype(np.int32), f"% {divisor}")


RETURNS = {
    "plain": "    if c > 0:\n        return maximum(n + n, 5)\n    return 0\n",
    "loop": "    for i in range(0, c):\n        if i == 3:\n            return maximum(n + n, 5)\n    return 0\n",
    "while": "    i = 0\n    while True:\n        if i > c:\n            return maximum(n + n, 5)\n        i += 1\n    "
             "return 0\n",
}


@case(form=list(RETURNS))
def returned_maximum(bench, form):
    source = f"def k(o: *i32, n: i32, c: i32):\n    store(o, f(n, c))\n\n@jit\ndef f(n, c):\n{RETURNS[form]}"
    same_bits(stored(bench, source, TOP, 7), np.array([5], np.int32), form)


@case(form=["choice", "for", "while"])
def merged_tile(bench, form):
    body = MERGES[form].replace("n + n", "x + x").replace("y = 0\n",
                                                          "y = zeros((4,), i32)\n").replace("else 0", "else x")
    source = f"def k(o: *i32, p: *i32, c: i32):\n    x = load(p + arange(0, 4))\n{body}    store(o + arange(0, 4), y)\n"
    x = np.array([TOP, -TOP - 1, 3, -3], np.int64)
    got = stored(bench, source, bench.buffer("i32", 4, x), 7, count=4)
    same_bits(got, np.maximum(wrap(x + x), 5).astype(np.int32), form)


@case(form=["choice", "branch", "for", "while", "break"])
def merged_stays_wide(bench, form):
    """The exact form comes through the same places: it decides comparisons and addresses."""
    body = MERGES[form].replace("maximum(n + n, 5)", "n + n")
    source = (f"def k(o: *i32, n: i32, c: i32):\n{body}    store(o, 1 if y > n else 0)\n    store(o + (y - n - n + 1), "
              "y)\n")
    same_bits(stored(bench, source, TOP, 7, count=2), np.array([1, -2], np.int32), form)


@case(form=["choice", "branch", "for", "while"])
def merged_widened(bench, form):
    """A conversion to a wider type keeps the value of the source type, and the exact form beside it."""
    body = MERGES[form].replace("maximum(n + n, 5)", "(n + n).to(i64)").replace("y = 0\n", "y = n.to(i64)\n")
    body = body.replace("else 0", "else n.to(i64)")
    source = f"def k(o: *i64, n: i32, c: i32):\n{body}    store(o, y)\n"
    same_bits(stored(bench, source, TOP, 7, dtype="i64"), np.array([-2], np.int64), form)


@case(value=["(t - i).to(i32)", "cast(t - i, i32)", "full((1,), z - i, i32)", "cdiv(t - i, t)"])
def carried_through_calls(bench, value):
    """What a call makes of a sum keeps its exact form: 0 - 1 of u16 is 65535, and below 0 where it is compared."""
    source = f"""def k(o: *i32, c: i32, z: u16, i: u8):
    t = full((1,), z, u16)
    a = full((1,), 0, i32)
    for j in range(0, c):
        a = {value}
    store(o + arange(0, 1), a)
    store(o + 1 + arange(0, 1), (a < 0).to(i32))

@jit
def cdiv(x, y):
    return (x - y).to(i32) + 0
"""
    same_bits(stored(bench, source, 1, 0, 1, count=2), np.array([65535, 1], np.int32), value)


@case(step=[1, 5, TOP])
def running_sum(bench, step):
    """A sum that wraps again and again, beside a maximum of what it was."""
    source = """def k(o: *i32, n: i32, c: i32):
    s = 0
    top = -5
    for i in range(0, c):
        s += n
        top = maximum(top, s + n)
    store(o, s)
    store(o + 1, top)
"""
    s, top = 0, -5
    for _ in range(9):
        s = wrap(s + step)
        top = max(top, wrap(s + step))
    same_bits(stored(bench, source, step, 9, count=2), np.array([s, top], np.int32), "sum")


# ---- A scalar that is 1: the JIT compiles a variant for it -----------------------------------------------------------

ONES = {
    "divide": ("(n - 8) // 2", lambda n: int((n - 8) / 2), "i32"),
    "remainder": ("(n ^ -2) % 2", lambda n: int(np.fmod(n ^ -2, 2)), "i32"),
    "negative": ("-n // 2", lambda n: int(-n / 2), "i32"),
    "invert": ("cast(~n, u8)", lambda n: ~n % 256, "u8"),
    "unsigned": ("(n - 2).to(u32)", lambda n: (n - 2) % 2 ** 32, "u32"),
    "narrow": ("(n * 300).to(i8)", lambda n: wrap(n * 300, 8), "i8"),
    "wrap": ("n + 2147483647", lambda n: wrap(n + TOP), "i32"),
    "shift": ("(n << 31) >> 3", lambda n: wrap(n << 31) >> 3, "i32"),
}


@case(form=list(ONES), n=[1, 2, 3])
def scalar_one(bench, form, n):
    text, want, dtype = ONES[form]
    got = stored(bench, f"def k(o: *{dtype}, n: i32):\n    store(o, {text})\n", n, dtype=dtype)
    same_bits(got, np.array([want(n)]).astype(got.dtype), form)


@case(n=[1, 2])
def scalar_one_branch(bench, n):
    source = ("def k(o: *i32, n: i32):\n    if n == 1:\n        y = n - 4\n    else:\n        y = n * 100\n    "
              "store(o, y // 2)\n")
    same_bits(stored(bench, source, n), np.array([-1 if n == 1 else 100], np.int32), "branch")


@case(step=[1, 3], n=[1, 2, 40])
def scalar_one_step(bench, step, n):
    source = ("def k(o: *i32, n: i32, step: i32):\n    s = 0\n    for i in range(0, n, step):\n        s += i + 1\n    "
              "store(o, s)\n")
    same_bits(stored(bench, source, n, step), np.array([sum(i + 1 for i in range(0, n, step))], np.int32), "steps")


@case(warps=[1, 4])
def debug_barrier(bench, warps):
    """Between a store and a load of another thread's element, in a branch and in a loop."""
    source = """@kernel(grid=(3,))
def k(o: *i32, n: i32):
    p = o + program_id(0) * 256
    i = arange(0, 256)
    store(p + i, i)
    debug_barrier()
    for j in range(0, n):
        x = load(p + 255 - i)
        debug_barrier()
        store(p + i, x + 1)
        debug_barrier()
    if n == 1:
        debug_barrier()
"""
    for n in (1, 2, 5):
        o = bench.buffer("i32", 768, np.zeros(768))
        bench.run(source, o, n, num_warps=warps)
        row = np.arange(256)
        for _ in range(n):
            row = row[::-1] + 1
        same_bits(o.read(), np.tile(row, 3).astype(np.int32), f"n = {n}")


@case(warps=[1, 4])
def widened_to_unsigned(bench, warps):
    """A negative number made unsigned is large, also where a loop or a sum had given it a wide form."""
    source = """
@kernel(grid=(1,))
def f(o: *i32, n: i32, c: i8):
    a = c
    for k in range(0, n):
        a = a - c - c
    store(o, (0 > a.to(u32)).to(i32))
    store(o + 1, (100 < a.to(u32)).to(i32))
    store(o + 2, (0 > (c - c - c).to(u16)).to(i32))
    store(o + 3, (0 > a.to(i32)).to(i32))
"""
    o = bench.buffer("i32", 4)
    bench.run(source, o, 1, 21, num_warps=warps)
    same_bits(o.raw(), np.array([0, 1, 0, 1], np.int32), "unsigned")
