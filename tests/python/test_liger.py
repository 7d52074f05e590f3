"""test_liger.py - Liger-Kernel's own modules, unmodified, with fsc.triton installed as triton, on the CPU: forward and
backward of its autograd functions against torch in float64. FSC_LIGER names the folder that holds liger_kernel; without
it, or without torch: one line, and exit code 3, which ctest takes as a skip. FSC_TEST_DEVICE=emu: on emulated threads,
every access watched.
"""
import os
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: torch is not there")
    sys.exit(3)
FOLDER = os.environ.get("FSC_LIGER", "")
if not os.path.isdir(os.path.join(FOLDER, "liger_kernel")):
    print("skipped: FSC_LIGER names no folder that holds Liger-Kernel's package liger_kernel")
    sys.exit(3)
sys.path.insert(0, FOLDER)

import fsc.triton

EMULATED = os.environ.get("FSC_TEST_DEVICE") == "emu"
fsc.triton.install("emu" if EMULATED else None, check=EMULATED)

import torch.nn.functional as F  # noqa: E402
from liger_kernel.ops import cross_entropy, fused_add_rms_norm, fused_linear_cross_entropy  # noqa: E402
from liger_kernel.ops import geglu, group_norm, jsd, kl_div, layer_norm, poly_norm, relu_squared, rms_norm  # noqa: E402
from liger_kernel.ops import rope, softmax, sparsemax, swiglu, tvd  # noqa: E402
from liger_kernel.ops.experimental import embedding  # noqa: E402

torch.manual_seed(0)
ROWS, WIDTH = (6, 123)
CLASSES = torch.randint(0, WIDTH, (ROWS,))
CLASSES[2] = -100  # ignored


def leaf(*shape):
    return torch.randn(shape, requires_grad=True)


def rms(x, w, offset=0.0):
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * (offset + w)


def swapped(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


def rotated(q, k, cos, sin):
    cos, sin = cos[:, None], sin[:, None]
    return q * cos + swapped(q) * sin, k * cos + swapped(k) * sin


def poly(x, w, b):
    powers = [x ** 3, x ** 2, x]
    return sum(w[i] * p * (p.square().mean(-1, keepdim=True) + 1e-6).rsqrt() for i, p in enumerate(powers)) + b


def sparse(x):
    z = x.sort(-1, descending=True).values
    k = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    support = ((1 + k * z > z.cumsum(-1)).sum(-1, keepdim=True))
    tau = (z.cumsum(-1).gather(-1, support - 1) - 1) / support
    return (x - tau).clamp(min=0)


def divergence(x, y):
    m = (x.exp() + y.exp()) / 2
    kl = lambda p: (p.exp() * (p - m.log())).sum(-1).mean()  # noqa: E731
    return (kl(x) + kl(y)) / 2


def linear_loss(x, w):
    return F.cross_entropy(x @ w.T, CLASSES)


class Operators(unittest.TestCase):
    def check(self, ours, judge, *inputs, rtol=2e-5, atol=2e-5):
        """Results and gradients of the leaves, against the judge in float64."""
        others = [x.detach().double().requires_grad_(x.requires_grad) if torch.is_tensor(x) and x.is_floating_point()
                  else x for x in inputs]
        copies = [x.detach().clone().requires_grad_(x.requires_grad) if torch.is_tensor(x) else x for x in inputs]
        # a step before, as operators write into what they are given
        found, want = ours(*[x * 1 if torch.is_tensor(x) and x.requires_grad else x for x in copies]), judge(*others)
        found, want = (v if isinstance(v, tuple) else (v,) for v in (found, want))
        found = found[:len(want)]
        for a, b in zip(found, want):
            torch.testing.assert_close(a.double(), b, rtol=rtol, atol=atol)
        grads = [torch.randn_like(v) for v in want]
        torch.autograd.backward(found, [g.float() for g in grads])
        torch.autograd.backward(want, [g.float().double() for g in grads])
        for a, b in zip(copies, others):
            if torch.is_tensor(b) and b.requires_grad:
                torch.testing.assert_close(a.grad.double(), b.grad, rtol=rtol, atol=atol)

    def test_rms_norm(self):
        self.check(lambda x, w: rms_norm.LigerRMSNormFunction.apply(x, w, 1e-6, 0.5, "gemma", False, None),
                   lambda x, w: rms(x, w, 0.5), leaf(ROWS, WIDTH), leaf(WIDTH))

    def test_fused_add_rms_norm(self):
        apply = fused_add_rms_norm.LigerFusedAddRMSNormFunction.apply
        self.check(lambda x, r, w: apply(x, r, w, 1e-6, 0.0, "llama", False),
                   lambda x, r, w: (rms(x + r, w), x + r), leaf(ROWS, WIDTH), leaf(ROWS, WIDTH), leaf(WIDTH))

    def test_layer_norm(self):
        self.check(lambda x, w, b: layer_norm.LigerLayerNormFunction.apply(x, w, b, 1e-6),
                   lambda x, w, b: F.layer_norm(x, (WIDTH,), w, b, 1e-6), leaf(ROWS, WIDTH), leaf(WIDTH), leaf(WIDTH))

    def test_group_norm(self):
        self.check(lambda x, w, b: group_norm.LigerGroupNormFunction.apply(x, w, b, 12, 3, 1e-6),
                   lambda x, w, b: F.group_norm(x, 3, w, b, 1e-6), leaf(4, 12, WIDTH), leaf(12), leaf(12))

    def test_poly_norm(self):
        self.check(lambda x, w, b: poly_norm.LigerPolyNormFunction.apply(x, w, b, 1e-6, False), poly,
                   leaf(ROWS, WIDTH), leaf(3), leaf(), rtol=1e-4, atol=1e-4)

    def test_softmax(self):
        self.check(softmax.LigerSoftmaxFunction.apply, lambda x: x.softmax(-1), leaf(ROWS, WIDTH))

    def test_sparsemax(self):
        self.check(lambda x: sparsemax.LigerSparsemaxFunction.apply(x, -1), sparse, leaf(ROWS, WIDTH))

    def test_activations(self):
        a, b = leaf(ROWS, WIDTH), leaf(ROWS, WIDTH)
        self.check(swiglu.LigerSiLUMulFunction.apply, lambda a, b: F.silu(a) * b, a, b)
        self.check(geglu.LigerGELUMulFunction.apply, lambda a, b: F.gelu(a, approximate="tanh") * b, a, b)
        self.check(relu_squared.LigerReLUSquaredFunction.apply, lambda a: F.relu(a).square(), a)

    def test_rope(self):
        angles = torch.randn(1, 5, 16).repeat(1, 1, 2)
        self.check(rope.LigerRopeFunction.apply, rotated, leaf(2, 4, 5, 32), leaf(2, 2, 5, 32), angles.cos(),
                   angles.sin())

    def test_cross_entropy(self):
        for options in [dict(), dict(label_smoothing=0.1), dict(reduction="sum"), dict(weight=torch.rand(WIDTH))]:
            weight = options.pop("weight", None)
            apply = cross_entropy.LigerCrossEntropyFunction.apply
            self.check(lambda x: apply(x, CLASSES, weight, -100, 0.0, options.get("label_smoothing", 0.0),
                                       options.get("reduction", "mean"))[0],
                       lambda x: F.cross_entropy(x, CLASSES, None if weight is None else weight.double(), **options),
                       leaf(ROWS, WIDTH))

    def test_fused_linear_cross_entropy(self):
        apply = fused_linear_cross_entropy.LigerFusedLinearCrossEntropyFunction.apply
        self.check(lambda x, w: apply(x, w, CLASSES)[0], linear_loss, leaf(ROWS, 32), leaf(WIDTH, 32), rtol=1e-4,
                   atol=1e-4)

    def test_divergences(self):
        x, y = leaf(ROWS, WIDTH).log_softmax(-1).detach().requires_grad_(), torch.randn(ROWS, WIDTH).log_softmax(-1)
        self.check(jsd.LigerJSDFunction.apply, divergence, x, y)
        self.check(lambda x, y: kl_div.LigerKLDivLossFunction.apply(x, y, "batchmean", True),
                   lambda x, y: F.kl_div(x, y, reduction="batchmean", log_target=True), x, y)
        p, q = x.detach().exp().requires_grad_(), y.exp()
        self.check(lambda p, q: tvd.LigerTVDLossFunction.apply(p, q), lambda p, q: (p - q).abs().sum() / 2 / ROWS, p, q)

    def test_embedding(self):
        rows = torch.randint(0, 9, (3, 4))
        self.check(embedding.LigerEmbeddingFunction.apply, lambda w, i: F.embedding(i, w), leaf(9, 33), rows)


if __name__ == "__main__":
    unittest.main()
