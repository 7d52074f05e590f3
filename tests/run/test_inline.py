"""inline_asm_elementwise: texts of PTX, as code for every device, against NumPy: bits where the text says them, float64
elsewhere."""
import numpy as np

from case import case, close, same_bits
from fsc import Error, encode

N = 1024
SOURCE = """
@kernel(grid=(1,))
def f(r: *R, a: *T, b: *T, N: constexpr = 1024, T: dtype = fp32, R: dtype = fp32):
    i = arange(0, N)
    x = load(a + i)
    y = load(b + i)
    store(r + i, {before}inline_asm_elementwise({text!r}, {constraints!r}, {args}, {types}, True, {pack}){behind})
"""
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def e2m1(x):
    """The nearest number's bits, the even one of two; the largest of what is larger, and of NaN."""
    a = np.minimum(np.abs(np.nan_to_num(x, nan=6.0)).astype(np.float64), 6.0)
    far = np.abs(a[:, None] - E2M1)
    code = np.argmin(far + np.arange(8) % 2 * 1e-9, axis=1)
    return code | np.where(np.signbit(x) & ~np.isnan(x), 8, 0)


def ue8m0(x):
    with np.errstate(divide="ignore"):
        up = np.ceil(np.log2(np.abs(x.astype(np.float64)))) + 127
    return np.where(np.isnan(x) | np.isinf(x), 255, np.where(x == 0, 0, up)).astype(np.uint16)


def floats(rng):
    special = [0.0, -0.0, 0.25, 0.75, -0.25, 1.25, 1.75, 2.5, 3.5, 5.0, 5.5, -7.0, 448.0, 1e30, np.inf, -np.inf, np.nan]
    return np.concatenate([special, rng.normal(scale=3, size=N - len(special))]).astype(np.float32)


def eighths(rng):
    return (rng.integers(-64, 64, N) / 8).astype(np.float32)


def words(rng):
    return rng.integers(-2 ** 31, 2 ** 31, N, dtype=np.int64).astype(np.int32)


def quad(a, b):
    pairs = "".join("cvt.rn.satfinite.e2m1x2.f32 b%d, $%d, $%d; " % (i, b + i, a + i) for i in range(4))
    return "{ // four bytes\n .reg .b8 b0, b1, b2, b3; " + pairs + "mov.b32 $0, {b0, b1, b2, b3}; }"


def funnel(x, y):
    x, y = (v.view(np.uint32).astype(np.uint64) for v in (x, y))
    t = (y << np.uint64(17) | x >> np.uint64(15)) & np.uint64(0xffffffff)
    wide, n = y << np.uint64(32) | t, np.minimum(x & np.uint64(63), np.uint64(32))
    return ((wide >> n) ^ (wide >> np.uint64(1))).astype(np.uint32)


# name: (type, type of the result, pack, text, constraints, arguments, values, reference of unsigned words)
BITS = {
    "e2m1x2": ("fp32", "u8", 4, quad(1, 5), "=r,r,r,r,r,r,r,r,r", "[x, y]", floats,
               lambda x, y: (e2m1(x) | e2m1(y) << 4).astype(np.uint8)),
    "e2m1x2 alone": ("fp32", "u32", 1, "{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, $1, $2; cvt.u32.u8 $0, t; }",
                     "=r,f,f", "[x, y]", floats, lambda x, y: (e2m1(y) | e2m1(x) << 4).astype(np.uint32)),
    "ue8m0": ("fp32", "u16", 1, "cvt.rp.ue8m0x2.f32 $0, 0.0, $1;", "=h,r", "[abs(x)]", floats,
              lambda x, y: ue8m0(x)),
    "bf16x2": ("fp32", "bf16", 2, "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,r,r", "[x]", eighths,
               lambda x, y: encode(x, "bf16").view(np.uint16)),
    "fma.f32x2": ("fp32", "fp32", 2, "{ .reg .b64 p, q; mov.b64 p, {$2, $3}; mov.b64 q, {$4, $5}; "
                  "fma.rn.f32x2 p, p, q, p; mov.b64 {$0, $1}, p; }", "=r,=r,r,r,r,r", "[x, y]", eighths,
                  lambda x, y: (x * y + x).view(np.uint32)),
    "add.f16x2": ("fp16", "fp16", 4, "add.f16x2 $0, $2, $4; add.rn.f16x2 $1, $3, $5;", "=r,=r,r,r,r,r", "[x, y]",
                  lambda rng: eighths(rng).astype(np.float16), lambda x, y: (x + y).view(np.uint16)),
    "bits": ("i32", "u32", 1, "lop3.b32 $0, $1, $2, 0xff00, 0xE8; prmt.b32 $0, $0, $1, 0x5410; xor.b32 $0, $0, -1;",
             "=r,r,r", "[x, y]", words,
             lambda x, y: ~((((x & y) | (x & 0xff00) | (y & 0xff00)) & 0xffff) | x << 16).view(np.uint32)),
    "predicates": ("i32", "i32", 1, "{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; "
                   "@!p add.s32 $0, $0, 1; @p mad.lo.s32 $0, $0, 3, $1; }", "=r,r,r", "[x, y]", words,
                   lambda x, y: np.where(x < y, x * 3 + x, y + 1).astype(np.int32).view(np.uint32)),
    "shifts": ("i32", "u32", 1, "{ .reg .b32 t; shr.s32 t, $1, 4; shr.u32 $0, $2, 28; or.b32 $0, $0, t; }", "=r,r,r",
               "[x, y]", words, lambda x, y: (x >> 4).view(np.uint32) | y.view(np.uint32) >> 28),
    "funnel": ("i32", "u32", 1, "{ .reg .b32 t; shf.l.wrap.b32 t, $1, $2, 49; and.b32 $0, $1, 63; "
               "shf.r.clamp.b32 $0, t, $2, $0; shf.r.wrap.b32 t, t, $2, 33; xor.b32 $0, $0, t; }", "=r,r,r", "[x, y]",
               words, lambda x, y: funnel(x, y)),
    "nearest": ("fp32", "i32", 1, "cvt.rni.s32.f32 $0, $1;", "=r,f", "[x]", eighths,
                lambda x, y: np.rint(x).astype(np.int32).view(np.uint32)),
}
SOFTPLUS = (".reg .pred p; setp.gt.f32 p, $1, 2.; @p mov.f32 $0, $1; @!p mul.f32 $0, $1, 0f3FB8AA3B; "
            "@!p ex2.approx.ftz.f32 $0, $0; @!p add.f32 $0, $0, 1.0; @!p lg2.approx.ftz.f32 $0, $0; "
            "@!p mul.f32 $0, $0, 0.6931471805599453;")


def launch(bench, source, types, x, y, **options):
    a, b, r = bench.buffer(types["T"], N, x), bench.buffer(types["T"], N, y), bench.buffer(types["R"], N)
    bench.run(source, r, a, b, types=types, **options)
    return r


@case(name=list(BITS), warps=[1, 4])
def inline_bits(bench, name, warps):
    t, result, pack, text, constraints, args, values, reference = BITS[name]
    rng = np.random.default_rng(22)
    x, y = values(rng), np.roll(values(rng), 5)
    source = SOURCE.format(text=text, constraints=constraints, args=args, types=result, pack=pack, before="", behind="")
    r = launch(bench, source, {"T": t, "R": result}, x, y, num_warps=warps)
    want = np.asarray(reference(x, y))
    same_bits(r.raw().view(want.dtype), want, name)


@case()
def inline_softplus(bench):
    x = floats(np.random.default_rng(3))
    x = x[np.isfinite(x)].repeat(2)[:N]
    x = np.concatenate([x, np.ones(N - len(x), np.float32)])
    source = SOURCE.format(text=SOFTPLUS, constraints="=r,r", args="[x]", types="fp32", pack=1, before="", behind="")
    v = x.astype(np.float64)
    want = np.where(v > 2, v, np.log1p(np.exp(np.minimum(v, 2))))
    close(launch(bench, source, {"T": "fp32", "R": "fp32"}, x, x).read(), want, 4e-7, 1e-7)


@case()
def inline_tuple(bench):
    """Several results, of registers that hold more bits than they need."""
    x = words(np.random.default_rng(4))
    source = SOURCE.format(text="mov.b32 $0, $2; shr.b32 $1, $2, 8;", constraints="=r,=r,r", args="[x]",
                           types="(u8, u8)", pack=1, before="sum_of(", behind=")")
    source += "\n@jit\ndef sum_of(both):\n    return both[0].to(u32) * 256 + both[1].to(u32)\n"
    got = launch(bench, source, {"T": "i32", "R": "u32"}, x, x).raw().view(np.uint32)
    v = x.view(np.uint32)
    same_bits(got, (v & 255) * 256 + (v >> 8 & 255), "two bytes")


@case(text=["ld.global.b32 $0, [$1];", "mov.u32 $0, %tid.x;", "L: bra L;", "frobnicate.f32 $0, $1;", "add.f32 $0;",
            "mov.b32 $3, $1;", "add.f32 $0, q, $1;"])
def inline_refused(bench, text):
    source = SOURCE.format(text=text, constraints="=r,r", args="[x]", types="fp32", pack=1, before="", behind="")
    x = np.zeros(N, np.float32)
    try:
        launch(bench, source, {"T": "fp32", "R": "fp32"}, x, x)
    except Error as e:
        assert "E0904" in str(e), str(e)
        return
    raise AssertionError(f"compiled: {text}")
