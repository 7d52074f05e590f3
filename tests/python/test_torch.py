"""test_torch.py - the Python package with torch on a GPU: streams, views, types, graphs, torch.compile, opcheck,
threads. Without torch or a GPU: one line, and exit code 3, which ctest takes as a skip.
"""
import sys
import threading
import unittest

try:
    import torch
except ImportError:
    print("skipped: torch is not there")
    sys.exit(3)
if not torch.cuda.is_available():
    print("skipped: torch sees no GPU")
    sys.exit(3)

import fsc
from kernels import ADD_IN_PLACE, COPY, SCALE, SOFTMAX, TRANSPOSE

softmax = fsc.load(SOFTMAX).softmax
torch.manual_seed(0)


def close(y, x):
    torch.testing.assert_close(y.double(), torch.softmax(x.double(), -1), rtol={torch.float32: 2e-6}.get(x.dtype, 1e-2),
                               atol=1e-7)


class Tensors(unittest.TestCase):
    def test_softmax(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for shape in [(1, 1), (33, 31), (128, 781), (7, 4096)]:
                x = torch.randn(shape, device="cuda", dtype=dtype)
                y = torch.full_like(x, float("nan"))
                softmax(y, x)
                close(y, x)

    def test_views(self):
        whole = torch.full((64, 1000), 7.0, device="cuda")
        x = torch.randn(128, 900, device="cuda")[::2, 5:786]
        softmax(whole[:, 9:790], x)
        close(whole[:, 9:790], x)
        self.assertTrue(bool((whole[:, :9] == 7).all() and (whole[:, 790:] == 7).all()))
        transpose = fsc.loads(TRANSPOSE).transpose
        y = torch.zeros(50, 70, device="cuda")
        transpose(y, torch.arange(3500.0, device="cuda").view(70, 50))
        torch.testing.assert_close(y, torch.arange(3500.0, device="cuda").view(70, 50).t().contiguous())

    def test_types(self):
        copy = fsc.loads(COPY).copy
        for dtype in (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16,
                      torch.float32, torch.float64, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2):
            x = torch.randint(0, 2, (100,), device="cuda").to(dtype)
            y = torch.zeros(100, device="cuda").to(dtype)
            copy(y, x)
            self.assertTrue(torch.equal(y.view(torch.uint8), x.view(torch.uint8)), dtype)

    def test_host_tensors(self):
        x = torch.randn(9, 100)
        y = torch.zeros_like(x)
        softmax(y, x)
        close(y, x)
        with self.assertRaisesRegex(fsc.ArgumentError, "in memory of GPU 0 and in host memory"):
            softmax(y.cuda(), x)

    def test_mistakes(self):
        x = torch.randn(9, 100, device="cuda")
        for bad, why in [(x[:3], "n_rows is 9 by the shape of y, and 3 by the shape of x"), (x.t(), "shape of x"),
                         (x[:, ::2], "n_cols is 100"),
                         (x.double(), "argument x points to fp64, and the kernel is compiled for fp32"),
                         (x.to("meta"), "where kernels do not run")]:
            with self.assertRaisesRegex(fsc.ArgumentError, why):
                softmax(torch.zeros_like(x), bad)


class Streams(unittest.TestCase):
    def test_current_stream(self):
        """Behind what makes x on another stream, without waiting for the device."""
        stream = torch.cuda.Stream()
        x = torch.zeros(4096, 1024, device="cuda")
        y = torch.empty_like(x)
        softmax(y, x)  # compiled and loaded
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            x.copy_(torch.randn_like(x))
            softmax(y, x)
        softmax(torch.empty_like(x), torch.zeros_like(x), stream=torch.cuda.current_stream())
        torch.cuda.synchronize()
        close(y, x)

    def test_graph(self):
        x = torch.randn(64, 781, device="cuda")
        y = torch.empty_like(x)
        softmax(y, x)  # before the capture: it takes launches only
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            softmax(y, x)
        x.copy_(torch.randn_like(x))
        graph.replay()
        close(y, x)

    def test_threads(self):
        wrong = []

        def work(seed):
            try:
                with torch.cuda.stream(torch.cuda.Stream()):
                    for i in range(50):
                        x = torch.randn(1 + (seed + i) % 9, 32 + 100 * (i % 4), device="cuda")
                        y = torch.empty_like(x)
                        softmax(y, x)
                        close(y, x)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is shown
                wrong.append(repr(error))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong[:2], [])

    def test_second_gpu(self):
        if torch.cuda.device_count() < 2:
            self.skipTest("one GPU")
        x = torch.randn(9, 100, device="cuda:1")
        y = torch.empty_like(x)
        softmax(y, x)
        close(y, x)


class Operators(unittest.TestCase):
    def test_result(self):
        op = fsc.torch_op(softmax, outputs={"y": "x"}, name="fsctest::softmax")
        x = torch.randn(33, 781, device="cuda")
        close(op(x), x)
        torch.library.opcheck(op, (x,))
        close(torch.compile(lambda x: op(x * 2) + 0, fullgraph=True)(x), x * 2)

    def test_change(self):
        op = fsc.torch_op(fsc.loads(ADD_IN_PLACE).add_in_place, name="fsctest::add_in_place")
        x, y = torch.ones(100, device="cuda"), torch.ones(100, device="cuda")
        op(y, x)
        self.assertTrue(bool((y == 2).all()))
        torch.library.opcheck(op, (y, x))

        def twice(y, x):
            op(y, x)
            op(y, x)
            return y + 1

        self.assertTrue(bool((torch.compile(twice, fullgraph=True)(torch.ones_like(x), x) == 4).all()))

    def test_gradient(self):
        op = fsc.torch_op(fsc.loads(SCALE).scale, outputs={"y": "x"}, name="fsctest::scale")
        op.register_autograd(lambda ctx, grad: op(grad.contiguous()))
        x = torch.randn(50, device="cuda", requires_grad=True)
        op(x).sum().backward()
        self.assertTrue(bool((x.grad == 0.5).all()))


class Others(unittest.TestCase):
    def test_numba_like(self):
        """By CUDA's array interface alone, and by DLPack alone, beside a tensor."""
        x = torch.randn(33, 781, device="cuda")

        class Interface:
            __cuda_array_interface__ = x.__cuda_array_interface__

        class Dlpack:
            def __dlpack__(self, stream=None):
                return x.__dlpack__(stream=stream)

            def __dlpack_device__(self):
                return x.__dlpack_device__()

        for other in (Interface(), Dlpack()):
            y = torch.empty_like(x)
            softmax(y, other)
            close(y, x)

    def test_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("CuPy is not there")
        x = cupy.random.randn(33, 781).astype(cupy.float32)
        y = cupy.empty_like(x)
        softmax(y, x)
        close(torch.as_tensor(y, device="cuda"), torch.as_tensor(x, device="cuda"))


if __name__ == "__main__":
    unittest.main()
