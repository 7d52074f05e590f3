"""test_compile.py - torch's operators around kernels of fsc.triton, on the CPU: custom_op, triton_op with wrap_triton,
torch.compile, its gradients. Without torch: one line, and exit code 3, which ctest takes as a skip.
"""
import logging
import sys
import unittest
import warnings

try:
    import torch
except ImportError:
    print("skipped: torch is not there")
    sys.exit(3)

import fsc.triton

fsc.triton.install("cpu")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

warnings.filterwarnings("ignore")
logging.getLogger("torch._higher_order_ops.triton_kernel_wrap").setLevel(logging.ERROR)  # takes every tensor for changed


@triton.jit
def scale(x, y, n, f, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * f, mask=i < n)


def scaled(x, f, kernel=scale):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), f, BLOCK=64)
    return y


@torch.library.custom_op("fsctest::scaled", mutates_args=())
def custom(x: torch.Tensor, f: float) -> torch.Tensor:
    return scaled(x, f)


custom.register_fake(lambda x, f: torch.empty_like(x))
custom.register_autograd(lambda ctx, grad: (custom(grad.contiguous(), ctx.f), None),
                         setup_context=lambda ctx, inputs, output: setattr(ctx, "f", inputs[1]))


@torch.library.triton_op("fsctest::wrapped", mutates_args=())
def wrapped(x: torch.Tensor, f: float) -> torch.Tensor:
    return scaled(x, f, torch.library.wrap_triton(scale))


class Operators(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        self.x = torch.randn(200)

    def check(self, fn, **options):
        found = torch.compile(fn, backend="aot_eager", **options)(self.x)
        torch.testing.assert_close(found, fn(self.x))
        torch.testing.assert_close(found.double(), 6 * self.x.double() + 1)

    def test_custom_op(self):
        self.check(lambda x: custom(2 * x, 3.0) + 1, fullgraph=True)
        torch.library.opcheck(custom, (self.x, 3.0))

    def test_gradient(self):
        for fn in (custom, torch.compile(custom, backend="aot_eager")):
            x = self.x.clone().requires_grad_()
            fn(x, 3.0).sum().backward()
            torch.testing.assert_close(x.grad, torch.full_like(x, 3))

    def test_wrap_triton(self):
        self.check(lambda x: wrapped(2 * x, 3.0) + 1)

    def test_launch_in_compiled_code(self):
        self.check(lambda x: scaled(2 * x, 3.0) + 1)


if __name__ == "__main__":
    unittest.main()
