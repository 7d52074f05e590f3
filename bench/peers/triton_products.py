"""triton_products.py - products in Triton's language, compiled for an architecture by name.

In: shapes, tiles. Out: launch() of a kernel on torch's tensors. Method: `warmup` compiles under TRITON_OVERRIDE_ARCH,
and the driver loads the PTX, so that both compilers are compared on the same instructions.
"""
import ctypes as c
import os

import torch
import triton
import triton.language as tl

import driver


@triton.jit
def matmul(a, b, out, M, N, K, stride_a, stride_b, stride_out, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile_m, tile_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)
    m, n, k = (tile_m * BM + tl.arange(0, BM)) % M, (tile_n * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    x_at, y_at = a + m[:, None] * stride_a + k[None, :], b + k[:, None] * stride_b + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(x_at, mask=k[None, :] < K - start, other=0.0)
        y = tl.load(y_at, mask=k[:, None] < K - start, other=0.0)
        acc = tl.dot(x, y, acc)
        x_at += BK
        y_at += BK * stride_b
    m, n = tile_m * BM + tl.arange(0, BM), tile_n * BN + tl.arange(0, BN)
    tl.store(out + m[:, None] * stride_out + n[None, :], acc.to(out.dtype.element_ty),
             mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def matmul_blocks(out, a, b, a_scale, b_scale, M, N, K, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile_m, tile_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)
    m, n, k = (tile_m * BM + tl.arange(0, BM)) % M, (tile_n * BN + tl.arange(0, BN)) % N, tl.arange(0, 128)
    x_at, y_at = a + m[:, None] * K + k[None, :], b + n[None, :] * K + k[:, None]
    groups = tl.cdiv(K, 128)
    acc = tl.zeros((BM, BN), tl.float32)
    for group in range(0, groups):
        x = tl.load(x_at, mask=k[None, :] < K - group * 128, other=0.0)
        y = tl.load(y_at, mask=k[:, None] < K - group * 128, other=0.0)
        x_scale, y_scale = tl.load(a_scale + group * M + m), tl.load(b_scale + n // 128 * groups + group)
        acc += tl.dot(x, y) * x_scale[:, None] * y_scale[None, :]
        x_at += 128
        y_at += 128
    m, n = tile_m * BM + tl.arange(0, BM), tile_n * BN + tl.arange(0, BN)
    tl.store(out + m[:, None] * N + n[None, :], acc.to(out.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def product_blocks(out, a, b, a_scale, b_scale, tile):
    """launch() of out = a bᵀ, each group of 128 along k times its scales; tile: (BM, BN, warps, stages)."""
    (m, k), n = a.shape, b.shape[0]
    bm, bn, warps, stages = tile
    grid = triton.cdiv(m, bm) * triton.cdiv(n, bn)
    return lambda: matmul_blocks[(grid,)](out, a, b, a_scale, b_scale, m, n, k, BM=bm, BN=bn, GROUP=8, num_warps=warps,
                                          num_stages=stages)


@triton.jit
def matmul_mixed(out, a, w, scale, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                 BK: tl.constexpr):
    m, n, k = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_at, w_at = a + (m % M)[:, None] * K + k[None, :], w + (n % N)[None, :] * K + k[:, None]
    h = tl.arange(0, BK // 2)
    h_at = w + (n % N)[None, :] * (K // 2) + h[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a_at, mask=k[None, :] < K - start, other=0.0)
        if GROUP == 0:
            y = tl.load(w_at, mask=k[:, None] < K - start, other=0).to(x.dtype)
        else:
            b = tl.load(h_at, mask=h[:, None] < (K - start) // 2, other=0)
            s = tl.load(scale + (n % N) * (K // GROUP) + start // GROUP)
            q = tl.reshape(tl.permute(tl.join(b & 15, b >> 4), (0, 2, 1)), (BK, BN))
            y = (q.to(x.dtype) - 8) * s[None, :]
        acc = tl.dot(x, y, acc)
        a_at += BK
        w_at += BK
        h_at += BK // 2
    if GROUP == 0:
        acc *= tl.load(scale + n % N)[None, :]
    tl.store(out + m[:, None] * N + n[None, :], acc.to(out.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def product_mixed(out, a, w, scale, tile, group):
    """launch() of out = a wᵀ, w of 8-bit integers with a scale each row; group: or of 4 bits, with one for each group
    of so many along k. tile: (BM, BN, BK, warps, stages)."""
    (m, k), n = a.shape, w.shape[0]
    bm, bn, bk, warps, stages = tile
    grid = (triton.cdiv(n, bn), triton.cdiv(m, bm))
    return lambda: matmul_mixed[grid](out, a, w, scale, m, n, k, GROUP=group, BM=bm, BN=bn, BK=bk, num_warps=warps,
                                      num_stages=stages)


class FromPtx:
    """A compiled kernel of Triton's, its PTX loaded by the driver: the cubin beside it is of another architecture."""

    def __init__(self, compiled):
        self.driver, self.meta = driver.Driver(0), compiled.metadata
        module, self.function = c.c_void_p(), c.c_void_p()
        self.driver.call("cuModuleLoadData", c.byref(module), compiled.asm["ptx"].encode())
        self.driver.call("cuModuleGetFunction", c.byref(self.function), module, self.meta.name.encode())
        if self.meta.shared > 48 << 10:
            self.driver.call("cuFuncSetAttribute", self.function, 8, self.meta.shared)  # most dynamic shared memory

    def launcher(self, grid, args):
        """launch() with these pointers and 32-bit integers; Triton's own pointers of scratch memory follow as null."""
        values = [c.c_uint64(x.data_ptr()) if isinstance(x, torch.Tensor) else c.c_int32(x) for x in args]
        values += [c.c_uint64(0)] * 2
        pointers = (c.c_void_p * len(values))(*[c.addressof(v) for v in values])
        threads, stream = 32 * self.meta.num_warps, torch.cuda.current_stream().cuda_stream

        def launch(_keep=(values, args)):
            self.driver.call("cuLaunchKernel", self.function, grid, 1, 1, threads, 1, 1, self.meta.shared,
                             c.c_void_p(stream), pointers, None)

        return launch


def product(a, b, out, tile, arch=None):
    """launch() of out = a b; tile: (BM, BN, BK, warps, stages); arch: "sm80" …, None: of this card."""
    (m, k), n = a.shape, b.shape[1]
    bm, bn, bk, warps, stages = tile
    grid = triton.cdiv(m, bm) * triton.cdiv(n, bn)
    args = (a, b, out, m, n, k, a.stride(0), b.stride(0), out.stride(0))
    sizes = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "num_warps": warps, "num_stages": stages}
    if arch is None:
        return lambda: matmul[(grid,)](*args, **sizes)
    os.environ["TRITON_OVERRIDE_ARCH"] = arch
    try:
        compiled = matmul.warmup(*args, grid=(grid,), **sizes)
    finally:
        del os.environ["TRITON_OVERRIDE_ARCH"]
    # what was 1 is a constant of the code
    return FromPtx(compiled).launcher(grid, [x for x in args if isinstance(x, torch.Tensor) or x != 1])
