"""test_tutorials.py - the tutorials of Triton that multiply matrices, as they are: 03 matmul, 06 attention forward and
backward, 08 groups, 09 persistent, 10 scaled by blocks. They are files of others and not in this tree:
FSC_TRITON_TUTORIALS names the folder that has them (python/tutorials of triton-lang/triton), else the cases are
skipped. What they do is in kernels of this tree, too: test_attention.py, test_products.py, test_blocks.py,
test_scaled.py. float64 is the judge.
"""
import os

import numpy as np

import fsc
from case import ULP, U, Bench, Skip, case, close
from matrix import Matrix
from test_attention import backward_wants, heads_of, judge_lse, judge_mean, softmax, unseen
from test_dot import cut
from test_products import of_real
from test_scaled import FORMATS, elements, factors, packed
from test_transforms import judge

FOLDER = os.environ.get("FSC_TRITON_TUTORIALS", "")


def run_tutorial(bench, name, kernel, *args, grid, types=None, **defines):
    path = os.path.join(FOLDER, name)
    if not FOLDER or not os.path.exists(path):
        raise Skip(f"FSC_TRITON_TUTORIALS names no folder with {name}")
    with open(path, encoding="utf-8") as f:
        bench.run(f.read(), *args, grid=grid, file=path, kernel=kernel, types=types, defines=defines)


def tiles(n, size):
    return -(-n // size)


def normal(bench, rng, *shape):
    return Matrix(bench, "fp16", shape, rng.standard_normal(shape))


def judge_product(bench, c, a, b, act=lambda x: x):
    want, size = a @ b, np.abs(a) @ np.abs(b)
    close(c.read(), act(want), 0, of_real(bench, "fp16", want, size, a.shape[1]), f"{a.shape} x {b.shape}")


SIZES = [(64, 64, 64), (130, 100, 70), (33, 257, 16)]


@case(sizes=SIZES, activation=["none", "leaky_relu"])
def tutorial_03(bench, sizes, activation):
    m, n, k = sizes
    rng = np.random.default_rng(k)
    a, b, c = normal(bench, rng, m, k), normal(bench, rng, k, n), Matrix(bench, "fp16", (m, n))
    run_tutorial(bench, "03-matrix-multiplication.py", "matmul_kernel", a.buffer, b.buffer, c.buffer, m, n, k, k, 1, n,
                 1, n, 1, grid=(tiles(m, 64) * tiles(n, 32),), BLOCK_SIZE_M=64, BLOCK_SIZE_N=32, BLOCK_SIZE_K=32,
                 GROUP_SIZE_M=2, ACTIVATION=f'"{activation}"')
    leaky = activation == "leaky_relu"
    judge_product(bench, c, a.seen, b.seen, lambda x: np.where(x > 0, x, 0.01 * x) if leaky else x)


@case(causal=[False, True], dim=[32, 64], n=[128, 256])
def tutorial_06_forward(bench, causal, dim, n):
    rng, heads, scale = np.random.default_rng(n + dim), 3, 0.5
    q, k, v = (heads_of(bench, rng, "fp16", heads, n, dim) for _ in range(3))
    o, m = heads_of(bench, rng, "fp16", heads, n, dim, False), bench.buffer("fp32", heads * n)
    run_tutorial(bench, "06-fused-attention.py", "_attn_fwd", scale, m, 1, heads, q.buffer, k.buffer, v.buffer,
                 o.buffer, n, grid=(n // 64, heads), HEAD_DIM=dim, BLOCK_M=64, BLOCK_N=32, FP8_OUTPUT=False,
                 STAGE=3 if causal else 1, warp_specialize=False, IS_HOPPER=False)
    a, b, c = (x.seen.reshape(heads, n, dim) for x in (q, k, v))
    _, p, want, error = softmax(a, b, scale, unseen(n, n, causal, 0))
    judge_lse(m.read().reshape(heads, n) * np.log(2), want, p, 2 * error, "M")
    judge_mean(bench, "fp16", o.read().reshape(heads, n, dim), p, 2 * error, c, f"attention, causal {causal}")


@case(causal=[False, True], dim=[32, 64])
def tutorial_06_backward(bench, causal, dim):
    """The tutorial's host scales k and rounds it: that k is what its gradients are of."""
    rng, heads, n, scale = np.random.default_rng(dim), 2, 128, 0.5
    q, v, do = (heads_of(bench, rng, "fp16", heads, n, dim) for _ in range(3))
    k = Matrix(bench, "fp16", (heads * n, dim), rng.standard_normal((heads * n, dim)) * scale / np.log(2))
    a, b, c, e = (x.seen.reshape(heads, n, dim) for x in (q, k, v, do))
    b = b / (scale / np.log(2))
    wants, out, lse = backward_wants(a, b, c, e, scale, unseen(n, n, causal, 0), "fp16", cut(bench, "fp16"))
    o = Matrix(bench, "fp16", (heads * n, dim), out.reshape(-1, dim))
    m, delta = bench.buffer("fp32", heads * n, lse.ravel() / np.log(2)), bench.buffer("fp32", heads * n)
    results = [heads_of(bench, rng, "fp16", heads, n, dim, False) for _ in range(3)]
    run_tutorial(bench, "06-fused-attention.py", "_attn_bwd_preprocess", o.buffer, do.buffer, delta, 1, heads, n,
                 grid=(n // 64, heads), BLOCK_M=64, HEAD_DIM=dim)
    run_tutorial(bench, "06-fused-attention.py", "_attn_bwd", q.buffer, k.buffer, v.buffer, scale, do.buffer,
                 *(r.buffer for r in results), m, delta, heads * n * dim, n * dim, dim, 1, heads, n,
                 grid=(n // 64, 1, heads), BLOCK_M1=32, BLOCK_N1=64, BLOCK_M2=64, BLOCK_N2=32, BLK_SLICE_FACTOR=2,
                 HEAD_DIM=dim, CAUSAL=causal)
    for (name, (want, bound)), result in zip(wants.items(), results):
        judge(result.read().reshape(want.shape), want, 2 * bound + ULP["fp16"] * np.abs(want), "fp16", name)


@case(kernel=["grouped_matmul_kernel", "grouped_matmul_tma_kernel"])
def tutorial_08(bench, kernel):
    """Addresses of matrices come from memory, so they are no buffers of the launch, and checks would find them all."""
    device = fsc.Device(bench.device.name)
    try:
        with Bench(device) as unchecked:
            run_groups(unchecked, kernel)
    finally:
        device.close()


def run_groups(bench, kernel):
    """Sizes are whole tiles, as the tutorial wants them."""
    rng, transposed, more = np.random.default_rng(8), "tma" in kernel, {}
    groups = [(64, 64, 32), (128, 32, 96), (64, 96, 64)]
    a, b = ([normal(bench, rng, *s) for s in shapes]
            for shapes in ([(m, k) for m, n, k in groups], [(n, k) if transposed else (k, n) for m, n, k in groups]))
    c = [Matrix(bench, "fp16", (m, n)) for m, n, _ in groups]
    where = [bench.buffer("i64", len(x), [y.buffer.address for y in x]) for x in (a, b, c)]
    sizes, steps = (bench.buffer("i32", 9, np.ravel(x)) for x in (groups, [(x.cols, y.cols, z.cols)
                                                                           for x, y, z in zip(a, b, c)]))
    if transposed:
        more["FP8"] = False
    run_tutorial(bench, "08-grouped-gemm.py", kernel, *where, sizes, steps, len(groups), grid=(4,), NUM_SM=4,
                 BLOCK_SIZE_M=64, BLOCK_SIZE_N=32, BLOCK_SIZE_K=32, **more)
    for x, y, z in zip(a, b, c):
        judge_product(bench, z, x.seen, y.seen.T if transposed else y.seen)


@case(kernel=["matmul_kernel", "matmul_kernel_persistent", "matmul_kernel_descriptor_persistent"], sizes=SIZES)
def tutorial_09(bench, kernel, sizes):
    m, n, k = sizes
    rng, described = np.random.default_rng(k), "descriptor" in kernel
    a, b = normal(bench, rng, m, k), normal(bench, rng, *((n, k) if described else (k, n)))
    c = Matrix(bench, "fp16", (m, n))
    strides = [] if described else [k, 1, n, 1, n, 1]
    more = dict(NUM_SMS=3) if "persistent" in kernel else {}
    if described:
        more.update(EPILOGUE_SUBTILE=True, WARP_SPECIALIZE=False, FLATTEN=True)
    run_tutorial(bench, "09-persistent-matmul.py", kernel, a.buffer, b.buffer, c.buffer, m, n, k, *strides,
                 grid=(3 if more else tiles(m, 64) * tiles(n, 32),), BLOCK_SIZE_M=64, BLOCK_SIZE_N=32, BLOCK_SIZE_K=32,
                 GROUP_SIZE_M=2, **more)
    judge_product(bench, c, a.seen, b.seen.T if described else b.seen)


def described(name, buffer, dtype, shape, block):
    """(name, type, arguments) of a descriptor that the host makes: rows lie one behind the other."""
    steps = [int(np.prod(shape[i + 1:])) for i in range(len(shape) - 1)]
    return name, f"tensordesc<{dtype}[{','.join(map(str, block))}]>", [buffer, *shape, *steps]


def run_described(bench, name, kernel, descriptors, *args, **more):
    run_tutorial(bench, name, kernel, *(x for _, _, values in descriptors for x in values), *args,
                 types={name: text for name, text, _ in descriptors}, **more)


@case(kernel=["matmul_kernel_tma", "matmul_kernel_tma_persistent"], subtile=[False, True], sizes=SIZES)
def tutorial_09_described(bench, kernel, subtile, sizes):
    m, n, k = sizes
    rng, more, grid = np.random.default_rng(n), {}, tiles(m, 64) * tiles(n, 32)
    if "persistent" in kernel:
        grid, more = 3, dict(EPILOGUE_SUBTILE=subtile, NUM_SMS=3)
    elif subtile:
        raise Skip("stores its tile at once")
    a, b, c = normal(bench, rng, m, k), normal(bench, rng, n, k), Matrix(bench, "fp16", (m, n))
    blocks = (64, 32), (32, 32), (64, 16 if subtile else 32)
    run_described(bench, "09-persistent-matmul.py", kernel,
                  [described(name, x.buffer, "fp16", (x.rows, x.cols), block)
                   for name, x, block in zip(("a_desc", "b_desc", "c_desc"), (a, b, c), blocks)], m, n, k, grid=(grid,),
                  BLOCK_SIZE_M=64, BLOCK_SIZE_N=32, BLOCK_SIZE_K=32, GROUP_SIZE_M=2, FP8_OUTPUT=False,
                  WARP_SPECIALIZE=False, **more)
    judge_product(bench, c, a.seen, b.seen.T)


class Scaled:
    """An operand [rows, k] of tutorial 10, its scales where the tutorial wants them, and the numbers of both."""

    def __init__(self, bench, rng, rows, k, format, scale, lie):
        bits, numbers = elements(rng, format, (rows, k))
        self.per_byte = 2 if format == "e2m1" else 1
        if format == "e2m1":
            bits = packed(bits, 1)
        self.dtype = "u8" if format == "e2m1" else "fp8e4nv"
        self.shape, self.buffer = bits.shape, bench.buffer(self.dtype, bits.size)
        self.buffer.write(bits.astype(np.uint8))
        self.group = 16 if scale == "fp8e4nv" else 32
        low, high = (0x20, 0x60) if scale == "fp8e4nv" else (122, 133)
        scales = rng.integers(low, high, (rows, k // self.group))
        self.scales = bench.buffer(scale, scales.size)
        self.scales.write(lie(scales).astype(np.uint8))
        self.numbers = numbers * np.repeat(factors(scales, scale), self.group, 1)


def judge_scaled(bench, got, a, b, dtype):
    """Sums of K numbers, rounded to the type of the result."""
    want, size = a.numbers @ b.numbers.T, np.abs(a.numbers) @ np.abs(b.numbers).T
    close(got, want, ULP[dtype] / 2 if dtype != "fp32" else 0, (a.numbers.shape[1] + 1) * U * cut(bench, "fp32") * size,
          f"{a.shape} x {b.shape}")


@case(kind=["nvfp4", "mxfp4", "mxfp8", "mixed"], sizes=[(128, 128, 256), (256, 384, 512)])
def tutorial_10(bench, kind, sizes):
    """Scales lie in blocks of 128 rows and 4 columns: 32 rows, each with its column of 4 for 4 rows 32 apart."""
    m, n, k = sizes
    if m > 128 and kind != "mixed":
        raise Skip("the larger sizes once")
    rng, scale = np.random.default_rng(k), "fp8e4nv" if kind == "nvfp4" else "u8"
    lie = lambda s: s.reshape(len(s) // 128, 4, 32, -1, 4).transpose(0, 3, 2, 1, 4)
    a = Scaled(bench, rng, m, k, "e2m1" if "fp4" in kind else "e4m3", scale, lie)
    b = Scaled(bench, rng, n, k, "e4m3" if kind == "mxfp8" else "e2m1", scale, lie)
    c, deep = bench.buffer("fp32", m * n), 256 if "fp4" in kind else 128
    reps, wide = deep // a.group // 4, k // a.group // 4
    run_described(bench, "10-block-scaled-matmul.py", "block_scaled_matmul_kernel",
                  [described("a_desc", a.buffer, a.dtype, a.shape, (128, deep // a.per_byte)),
                   described("a_scale_desc", a.scales, scale, (1, m // 128, wide, 2, 256), (1, 1, reps, 2, 256)),
                   described("b_desc", b.buffer, b.dtype, b.shape, (128, deep // b.per_byte)),
                   described("b_scale_desc", b.scales, scale, (1, n // 128, wide, 2, 256), (1, 1, reps, 2, 256)),
                   described("c_desc", c, "fp32", (m, n), (128, 128))], grid=(m * n // 128 ** 2,), M=m, N=n, K=k,
                  output_type=0, ELEM_PER_BYTE_A=a.per_byte, ELEM_PER_BYTE_B=b.per_byte, VEC_SIZE=a.group, BLOCK_M=128,
                  BLOCK_N=128, BLOCK_K=deep, rep_m=1, rep_n=1, rep_k=reps, NUM_STAGES=4)
    judge_scaled(bench, c.read().reshape(m, n), a, b, "fp32")
