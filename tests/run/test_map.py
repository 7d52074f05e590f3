"""map_elementwise: functions of scalars with branches, loops and early returns, against Python, which runs the same
text for each element."""
import inspect

import numpy as np

from case import case, same_bits
from fsc import Error

ROWS, COLS = 8, 32
SOURCE = """
@kernel(grid=(1,))
def f(r: *i32, s: *i32, a: *i32, b: *i32, R: constexpr = 8, C: constexpr = 32):
    i = arange(0, R)[:, None] * C + arange(0, C)[None, :]
    x = load(a + i)
    y = load(b + {of_b})
    {results} = map_elementwise({name}, x, y{more})
    {stores}
"""


def jit(fn):
    return fn


# The texts of these go into the kernel. Numbers stay below 2^31.


@jit
def three_way(x, y):
    if x < y:
        return -1
    elif x == y:
        return 0
    else:
        return 1


@jit
def gcd(x, y):
    while y > 0:
        x, y = y, x % y
    return x


@jit
def collatz(x, y):
    steps = 0
    n = x + 1
    while n > 1:
        if steps > y:
            return -steps
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@jit
def digits(x, y):
    """A break, a continue, a loop of a known number of rounds within one that is not."""
    total = 0
    for i in range(8):
        d = x % 10
        x = x // 10
        if d == 3:
            continue
        total += d
        k = 0
        while True:
            k += 1
            if k > d or total > y:
                break
            total += k
        if x == 0:
            break
    return total * 100 + x


@jit
def guarded(x, y):
    if not (y % 5 == 0 or x < 7) and x != y:
        r = x // (y % 5)
    else:
        r = -1
    if r > 100:
        if y > 50:
            return r
        r = 100
    return r + 1000


@jit
def find(x, y):
    """The first divisor, by a return out of two loops."""
    for i in range(2, 5):
        for k in range(3):
            if x % (i + 3 * k) == 1:
                return i * 10 + k
    return y


@jit
def helper(x, y):
    return gcd(x + 1, y) + three_way(x, 7)


@jit
def both(x, y):
    if y > x:
        return y // (x + 1), y % (x + 1)
    return x, -y


@jit
def packed(x0, x1, y0, y1):
    if x0 > x1:
        return y0, y1 + 1, x1, x0
    return y1, y0, 7, 8


ONE, TWO = [three_way, gcd, collatz, digits, guarded, find, helper], [both]


def text_of(*fns):
    return "\n\n".join(inspect.getsource(fn) for fn in fns)


def launch(bench, name, x, y, of_b="i", results="u", more="", **options):
    stores = "store(r + i, u)" if results == "u" else "store(r + i, u)\n    store(s + i, v)"
    source = SOURCE.format(name=name, of_b=of_b, results=results, more=more, stores=stores)
    n = ROWS * COLS
    r, s = bench.buffer("i32", n), bench.buffer("i32", n)
    a, b = bench.buffer("i32", n, x), bench.buffer("i32", n, y)
    bench.run(source + text_of(*ONE, *TWO, packed), r, s, a, b, **options)
    return [out.raw().view(np.int32).reshape(ROWS, COLS) for out in (r, s)]


def numbers():
    rng = np.random.default_rng(11)
    return rng.integers(0, 300, (2, ROWS, COLS)).astype(np.int32)


def each(fn, x, y):
    x, y = np.broadcast_arrays(x, y)
    return np.array([[fn(int(p), int(q)) for p, q in zip(*row)] for row in zip(x, y)], np.int32)


@case(fn=[f.__name__ for f in ONE], warps=[1, 4], row=[False, True])
def map_one(bench, fn, warps, row):
    x, y = numbers()
    got, _ = launch(bench, fn, x.ravel(), y.ravel(), of_b="arange(0, C)" if row else "i", num_warps=warps)
    same_bits(got, each(globals()[fn], x, y[0] if row else y), fn)


@case(warps=[1, 4])
def map_two(bench, warps):
    x, y = numbers()
    got = launch(bench, "both", x.ravel(), y.ravel(), results="u, v", num_warps=warps)
    want = each(both, x, y)
    for i in range(2):
        same_bits(got[i], want[:, :, i], f"result {i}")


@case(warps=[1, 2])
def map_packed(bench, warps):
    x, y = numbers()
    got = launch(bench, "packed", x.ravel(), y.ravel(), results="u, v", more=", pack=2", num_warps=warps)
    pairs = [packed(*map(int, (x0, x1, y0, y1))) for (x0, x1), (y0, y1) in zip(x.reshape(-1, 2), y.reshape(-1, 2))]
    want = np.array(pairs, np.int32).reshape(ROWS, COLS // 2, 2, 2)
    for i in range(2):
        same_bits(got[i], np.ascontiguousarray(want[:, :, i]).reshape(ROWS, COLS), f"result {i}")


REFUSED = {"three": "    return x, y, x", "text": "    return 'a'", "types": "    if x > y:\n        return x\n"
           "    return y * 0.5", "none": "    z = x"}


@case(why=list(REFUSED), pack=[1, 2])
def map_refused(bench, why, pack):
    x, y = numbers()
    params = "x, y" if pack == 1 else "x, x1, y, y1"
    function = f"\n@jit\ndef wrong({params}):\n{REFUSED[why]}\n"
    source = SOURCE.format(name="wrong", of_b="i", results="u", more=f", pack={pack}", stores="store(r + i, u)")
    try:
        bench.run(source + function, *(bench.buffer("i32", ROWS * COLS) for _ in range(4)))
    except Error as e:
        assert "error" in str(e), str(e)
        return
    raise AssertionError(f"compiled: {why}")
