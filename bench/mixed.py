"""mixed.py - products of 16-bit floats with weights of 8 or 4 bits: fsc beside cuBLAS with 16-bit weights, torch's own
kernel for 4 bits, and Triton at its best tile. Work for products.py.

Method: weights of a layer come from memory, as other layers' have been read since. So there are as many copies of them
as exceed the L2 twice, and a graph launches once for each: its time by their number is the time of a product. fsc is
right where it is as near to float64 as its weights allow; others round where it may not. TFLOP/s count 2 M N K.
"""
import torch

import turns
from turns import ours, sample, say, tried, without_passes

L2_BYTES = 128 << 20
GROUP = 128
PARTS = 8  # for which there is scratch memory
SHAPES = ((4096, 4096), (14336, 4096), (4096, 14336))  # N, K
TRITON = ((16, 64, 64, 4, 4), (16, 64, 128, 4, 4), (16, 128, 64, 4, 4), (64, 64, 64, 4, 4), (64, 64, 128, 4, 4),
          (64, 128, 64, 4, 4), (128, 128, 64, 4, 3), (128, 128, 64, 8, 3), (256, 128, 64, 8, 3), (128, 64, 64, 4, 4),
          (256, 64, 64, 4, 4))  # BM, BN, BK, warps, stages


def graph(make, copies):
    """launch() of a graph that calls make(i)() for each copy; .facts of the last."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        launches = [make(i) for i in range(copies)]
        for launch in launches:
            launch()
        side.synchronize()
        made = torch.cuda.CUDAGraph()
        with torch.cuda.graph(made, stream=side):
            for launch in launches:
                launch()

    def replay(_keep=launches):
        made.replay()

    if hasattr(launches[-1], "facts"):
        replay.facts = launches[-1].facts
    return replay


class Weights:
    """So many matrices [n, k] in 4 or 8 bits; .packed and .scale of each, as matmul_dequantize.dsl takes them."""

    def __init__(self, n, k, bits, copies):
        low, high, dtype = (0, 16, torch.uint8) if bits == 4 else (-127, 128, torch.int8)
        self.bits, self.shape = bits, (n, k)
        self.q = [torch.randint(low, high, (n, k), device="cuda", dtype=dtype) for _ in range(copies)]
        self.packed = [a[:, ::2] | a[:, 1::2] << 4 for a in self.q] if bits == 4 else self.q
        groups = k // GROUP if bits == 4 else 1
        scale = [(torch.rand((n, groups), device="cuda") + 0.5) / 64 for _ in range(copies)]
        self.scale = [s.bfloat16() for s in scale] if bits == 4 else scale

    def seen(self, i):
        """As the product sees them, in float64."""
        if self.bits == 8:
            return self.q[i].double() * self.scale[i].double()
        groups = (self.q[i].bfloat16() - 8).view(self.shape[0], -1, GROUP)
        return (groups * self.scale[i][:, :, None]).view(self.shape).double()


def mixed(m, n, k, bits, triton_products):
    copies = max(2, 2 * L2_BYTES // (n * k * bits // 8))
    w, x = Weights(n, k, bits, copies), torch.randn((m, k), device="cuda").bfloat16()
    out = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
    rows, seen = torch.arange(0, m, max(1, m // 128), device="cuda"), w.seen(copies - 1)
    want, size = x[rows].double() @ seen.T, x[rows].double().abs() @ seen.abs().T
    slack = size * (k * 4 * 2.0**-24) + want.abs() * 2.0**-8 + 1e-6

    def check(name):
        got = out[rows].double()
        out.fill_(float("nan"))
        bad = ~((got - want).abs() <= (slack if name.startswith("fsc") else size * 2.0**-6))
        return f"{int(bad.sum())} of {bad.numel()} wrong" if bad.any() else None

    dense = [w.seen(i).bfloat16().T for i in range(copies - 1, copies - 1 - min(copies, 4), -1)]
    scratch = torch.zeros(PARTS * m * n + m * n // 1024 + m + n, device="cuda")

    def ours_with(i):
        values = [out, x, w.packed[i], w.scale[i], scratch, m, n, k, k * bits // 8, scratch.numel()]
        return ours("matmul_dequantize.dsl", values, {"zero": "None", "GROUP": GROUP if bits == 4 else 0})

    def tinygemm():  # the launches keep what it was packed into
        packed = [torch._convert_weight_to_int4pack(a[:, ::2] << 4 | a[:, 1::2], 8) for a in w.q]
        both = [torch.stack((s.T, torch.zeros_like(s.T)), -1).contiguous() for s in w.scale]
        return graph(lambda i: lambda: out.copy_(torch._weight_int4pack_mm(x, packed[i], GROUP, both[i])), copies)

    makers = [("cublas", lambda: graph(lambda i: lambda: torch.matmul(x, dense[(copies - 1 - i) % len(dense)], out=out),
                                       copies)),
              ("fsc-default", lambda: graph(ours_with, copies))]
    makers += [("torch", tinygemm)] * (bits == 4)
    for t in TRITON:
        if triton_products and t[0] <= max(16, m) and (m <= 512 or t[0] >= 64):
            makers.append(("triton " + "x".join(map(str, t)), lambda t=t: graph(
                lambda i: triton_products.product_mixed(out, x, w.packed[i], w.scale[i], t, GROUP if bits == 4 else 0),
                copies)))
    makers += without_passes(makers)
    where = f"{m}x{n}x{k} bf16 x {'u4' if bits == 4 else 'i8'}"
    launches = tried(makers, check, where)
    say(launches, {name: t / copies for name, t in sample(launches).items()}, where, 2e-9 * m * n * k)


def work(what, triton_products):
    if "mixed" not in what:
        return []
    return [lambda m=m, n=n, k=k, bits=bits: mixed(m, n, k, bits, triton_products)
            for bits in (4, 8) for m in (1, 16, 64, 256, 4096) for n, k in SHAPES[:2 if m == 4096 else 3]]
