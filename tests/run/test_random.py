"""test_random.py - random numbers: Philox against NumPy written from its description, which the published vectors check
first; the uniform floats to the bit; scalars, tiles, seeds and offsets of every width.
"""
import numpy as np

from case import ULP, case, close, example, same_bits

WORD = {32: (np.uint32, 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85),
        64: (np.uint64, 0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}

# Of the authors' test vectors: bits, counters, keys, ten rounds' words.
VECTORS = [
    (32, (0, 0, 0, 0), (0, 0), (0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8)),
    (32, (2 ** 32 - 1,) * 4, (2 ** 32 - 1,) * 2, (0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd)),
    (32, (0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), (0xa4093822, 0x299f31d0),
     (0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1)),
    (64, (0, 0, 0, 0), (0, 0), (0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b)),
    (64, (2 ** 64 - 1,) * 4, (2 ** 64 - 1,) * 2,
     (0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0)),
]


def philox(bits, counters, keys, rounds=10):
    """In Python's whole numbers: each round multiplies two words, and the halves change places."""
    _, a, b, w0, w1 = WORD[bits]
    mask = (1 << bits) - 1
    c, k = list(counters), list(keys)
    for _ in range(rounds):
        p, q = a * c[0], b * c[2]
        c = [(q >> bits) ^ c[1] ^ k[0], q & mask, (p >> bits) ^ c[3] ^ k[1], p & mask]
        k = [(k[0] + w0) & mask, (k[1] + w1) & mask]
    return c


def numbers(seed, offsets, rounds=10):
    """The four words of each offset, as randint4x counts: 64 bits of seed, 64 of offset."""
    seed %= 2 ** 64
    rows = [philox(32, (o % 2 ** 32, (o >> 32) % 2 ** 32, 0, 0), (seed % 2 ** 32, seed >> 32), rounds) for o in offsets]
    return np.array(rows, np.uint32).T


def uniform(words):
    """Folded at 0 as signed numbers, then scaled, both in fp32."""
    i = words.view(np.int32)
    return np.where(i < 0, ~i, i).astype(np.float32) * np.float32(4.6566127342e-10)


@case()
def reference(bench):
    for bits, counters, keys, want in VECTORS:
        got = philox(bits, counters, keys)
        assert tuple(got) == want, f"philox4x{bits}: {[hex(x) for x in got]}"


WORDS = """
@kernel(grid=(1,))
def f(y: *W, c: *W, seed: i64, N: constexpr, R: constexpr, W: dtype):
    i = arange(0, N)
    p, q, r, s = philox(seed, load(c + i), load(c + N + i), load(c + 2 * N + i), load(c + 3 * N + i), R)
    store(y + i, p)
    store(y + N + i, q)
    store(y + 2 * N + i, r)
    store(y + 3 * N + i, s)
"""


@case(bits=[32, 64], rounds=[10, 7], warps=[1, 4])
def words(bench, bits, rounds, warps):
    """Any counters; the vectors' are among them. Of 64 bits the seed is the first key."""
    n, rng = 64, np.random.default_rng(bits)
    c = rng.integers(0, 2 ** bits, (4, n), dtype=np.uint64)
    c[:, 0], c[:, 1] = 0, 2 ** bits - 1
    for seed in (0, -1, 0x299f31d0a4093822):
        keys = (seed % 2 ** 32, seed % 2 ** 64 >> 32) if bits == 32 else (seed % 2 ** 64, 0)
        want = np.array([philox(bits, [int(x) for x in c[:, k]], keys, rounds) for k in range(n)], np.uint64).T
        t = f"u{bits}"
        y, cb = bench.buffer(t, 4 * n), bench.buffer(t, 4 * n, c.ravel())
        bench.run(WORDS, y, cb, seed, defines={"N": n, "R": rounds}, types={"W": t}, num_warps=warps)
        same_bits(y.raw().view(WORD[bits][0]), want.ravel().astype(WORD[bits][0]), f"seed {seed}")


KEYS = """
@kernel(grid=(1,))
def f(y: *W, c: *W, N: constexpr, W: dtype):
    i = arange(0, N)
    v = load(c + i)
    a, b, d, e = philox_impl(v, v ^ 1, v, v + 2, v, 77, 7)
    store(y + i, a ^ b ^ d ^ e)
"""


@case(bits=[32, 64])
def any_keys(bench, bits):
    """Keys that differ from element to element."""
    n, mask = 64, 2 ** bits - 1
    c = np.random.default_rng(bits).integers(0, mask, n, dtype=np.uint64)
    words = [philox(bits, (v, v ^ 1, v, v + 2 & mask), (v, 77), 7) for v in map(int, c)]
    y, cb = bench.buffer(f"u{bits}", n), bench.buffer(f"u{bits}", n, c)
    bench.run(KEYS, y, cb, defines={"N": n}, types={"W": f"u{bits}"})
    same_bits(y.raw(), np.array([a ^ b ^ d ^ e for a, b, d, e in words], y.raw().dtype), "philox_impl")


@case(seed=[("i32", 5), ("i32", -7), ("i64", 2 ** 40 + 3), ("u32", 2 ** 32 - 1)], offset=["i32", "i64", "u32"],
      warps=[1, 4])
def counted(bench, seed, offset, warps):
    """randint, randint4x, rand, rand4x with seeds and offsets of each width."""
    source = f"""
@kernel(grid=(3,))
def f(y: *u32, z: *fp32, o: *{offset}, seed: {seed[0]}, N: constexpr, TOTAL: constexpr):
    i = program_id(0) * N + arange(0, N)
    at = load(o + i)
    a, b, c, d = randint4x(seed, at)
    store(y + i, randint(seed, at))
    store(y + TOTAL + i, b)
    store(y + 2 * TOTAL + i, c)
    store(y + 3 * TOTAL + i, d)
    p, q, r, s = rand4x(seed, at)
    store(z + i, tl.rand(seed, at))
    store(z + TOTAL + i, q)
    store(z + 2 * TOTAL + i, r)
    store(z + 3 * TOTAL + i, s)
"""
    n, total = 128, 384
    top = 2 ** 62 if offset == "i64" else 2 ** 31
    o = np.random.default_rng(1).integers(0, top, total)
    y, z, ob = bench.buffer("u32", 4 * total), bench.buffer("fp32", 4 * total), bench.buffer(offset, total, o)
    bench.run(source, y, z, ob, seed[1], defines={"N": n, "TOTAL": total}, num_warps=warps)
    want = numbers(seed[1], [int(x) for x in o])
    same_bits(y.raw().view(np.uint32), want.ravel(), "words")
    same_bits(z.read(), uniform(want).ravel(), "floats")
    assert (z.read() >= 0).all() and (z.read() < 1).all()


@case()
def scalars(bench):
    """A scalar offset, a known one, and fewer rounds."""
    source = """
@kernel(grid=(3,))
def f(y: *u32, z: *fp32):
    p = program_id(0)
    store(y + p, randint(11, p))
    store(y + 3 + p, randint(11, 2, n_rounds=6))
    store(z + p, rand(11, p + 4))
"""
    y, z = bench.buffer("u32", 6), bench.buffer("fp32", 3)
    bench.run(source, y, z)
    want = np.concatenate([numbers(11, range(3))[0], numbers(11, [2] * 3, 6)[0]])
    same_bits(y.raw().view(np.uint32), want, "words")
    same_bits(z.read(), uniform(numbers(11, range(4, 7))[0]), "floats")


@case()
def extremes(bench):
    """The words that give the largest and the smallest float."""
    source = """
@kernel(grid=(1,))
def f(z: *fp32, x: *u32):
    i = arange(0, 8)
    store(z + i, uniform(load(x + i)))
"""
    w = np.array([0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 30, 12345], np.uint32)
    u = uniform(w)
    assert u.max() < 1 and u.min() == 0
    source = source.replace("uniform(", "uint_to_uniform_float(")
    z, x = bench.buffer("fp32", 8), bench.buffer("u32", 8, w)
    bench.run(source, z, x)
    same_bits(z.read(), u, "floats")


@case(dtype=["fp32", "fp16", "bf16", "fp64"], n=[1, 781, 1025, 5000], p=[0.0, 0.1, 0.5], warps=[1, 4])
def dropout_example(bench, dtype, n, p, warps):
    """Exactly those that the description says, scaled; the kept are as many as chance allows."""
    seed = 2 ** 33 + 12
    x = bench.buffer(dtype, n, 1 + np.random.default_rng(n).random(n))
    y = bench.buffer(dtype, n)
    bench.run(example("dropout.dsl"), y, x, n, np.float32(p), seed, types={"T": dtype}, num_warps=warps,
              grid=((n + 1023) // 1024,))
    keep = uniform(numbers(seed, range(n))[0]) > np.float32(p)
    want = np.where(keep, x.read().astype(np.float64).astype(np.float32) / (1 - np.float64(np.float32(p))), 0)
    close(y.read(), want, rtol=ULP["fp32" if dtype == "fp64" else dtype] * 3, what="dropout")
    assert abs(keep.mean() - (1 - p)) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-6, f"{keep.mean()} kept"


NORMAL = """
@kernel(grid=(2,))
def f(y: *fp32, seed: i64, N: constexpr, TOTAL: constexpr, R: constexpr):
    i = program_id(0) * N + arange(0, N)
    a, b, c, d = randn4x(seed, i, R)
    store(y + i, randn(seed, i, n_rounds=R))
    store(y + TOTAL + i, a)
    store(y + 2 * TOTAL + i, b)
    store(y + 3 * TOTAL + i, c)
    store(y + 4 * TOTAL + i, d)
"""


@case(seed=[0, -1, 2 ** 40 + 3], rounds=[10, 6], warps=[1, 4, 8])
def normal(bench, seed, rounds, warps):
    """Of the counted integers: the uniform numbers and the angle in fp32 to the bit, the rest in float64."""
    n, total = 512, 1024
    y = bench.buffer("fp32", 5 * total)
    bench.run(NORMAL, y, seed, defines={"N": n, "TOTAL": total, "R": rounds}, num_warps=warps)
    u = uniform(numbers(seed, range(total), rounds))
    first, angle = np.maximum(u[::2],
                              np.float32(1e-7)).astype(np.float64), (u[1::2] * np.float32(2 * np.pi)).astype(np.float64)
    r = np.sqrt(-2 * np.log(first))
    want = np.stack([r * np.cos(angle), r * np.sin(angle)], 1).reshape(4, total)
    got = y.read().reshape(5, total)
    same_bits(got[0], got[1], "randn and the first of randn4x")
    close(got[1:], want, 5 * ULP["fp32"], 0, "normal numbers")  # log and cos 2 ulp each, the root and the product
    assert abs(got[1:].mean()) < 0.1 and abs(got[1:].std() - 1) < 0.1
