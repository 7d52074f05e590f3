"""test_repeat.py - launches like one before (runtime/python/repeat.c) are those that the package makes by itself.

A torch of our own over the fake driver of tests/runtime (FSC_CUDA_LIBRARY): what is launched where, on which stream,
with which arguments is compared, launch by launch, with a kernel that remembers nothing.
"""
import gc
import random
import sys
import types
import unittest
import weakref

import fsc
import fsc.triton as triton
import fsc.triton.language as tl
from fsc import _arrays, _repeat
from test_fake import Device, fake, state


class Tensor:
    """What of torch's tensors is asked."""

    is_cuda = True

    def __init__(self, address, shape, dtype="torch.float32", device=0, strides=None):
        self.address, self.shape, self.dtype, self.device = address, shape, dtype, DEVICES[device]
        self.strides = strides or tuple(int(s) for s in (shape[1] if len(shape) == 2 else 1, 1)[-len(shape):])

    def data_ptr(self):
        return self.address

    def stride(self):
        return self.strides

    def get_device(self):
        return self.device.index


DEVICES = [Device(i, "index") for i in (0, 1)]
STREAMS = {0: 0xA0, 1: 0xA1}
SUM = """@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))
def scaled(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], f: fp32, k: i32 = 3, n_rows: i32,
           n_cols: i32, x_stride: i32, y_stride: i32, T: dtype, BLOCK: constexpr):
    i = arange(0, BLOCK)
    store(y + program_id(0) * y_stride + i, load(x + program_id(0) * x_stride + i, mask=i < n_cols) * f + k,
          mask=i < n_cols)
"""


@triton.jit
def _scaled(y, x, n, f, EXACT: tl.constexpr, BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n) * f
    tl.store(y + i, v if EXACT else v + 1, mask=i < n)


def read(launch):
    """What the driver was told; behind two pointers all parameters have 4 bytes."""
    params = [p if i < 2 else p & 0xffffffff for i, p in enumerate(launch.params[:state.params])]
    return launch.entry, tuple(launch.grid), tuple(launch.block), launch.shared, launch.stream, params


class Counted:
    """Launches through a kernel, and how many of them the package made."""

    def __init__(self, kernel):
        self.kernel, self.count, way = kernel, 0, kernel._launcher._run

        def run(*args, **named):
            self.count += 1
            return way(*args, **named)

        kernel._launcher._run = kernel._launcher.launch = run


@unittest.skipUnless(fake, "FSC_CUDA_LIBRARY names no fake driver")
@unittest.skipUnless(_repeat._found, "not CPython with its lock")
class Repeat(unittest.TestCase):
    def setUp(self):
        torch = types.SimpleNamespace(Tensor=Tensor, cuda=types.SimpleNamespace(
            is_initialized=lambda: True, is_available=lambda: True, current_device=lambda: 0,
            current_stream=lambda i: types.SimpleNamespace(cuda_stream=STREAMS[i])))
        self.torch, sys.modules["torch"] = sys.modules.get("torch"), torch
        _arrays._raw_stream = None
        state.devices, state.params = 2, 4
        self.known = Counted(triton.jit(_scaled.fn))
        self.plain = triton.jit(_scaled.fn)
        self.plain._launcher.forget()

    def tearDown(self):
        sys.modules.pop("torch")
        if self.torch:
            sys.modules["torch"] = self.torch
        _arrays._raw_stream = None
        for kind in [k for k in _arrays.READERS if k.__name__ == "Tensor"]:
            del _arrays.READERS[kind]

    @staticmethod
    def told(call):
        """(what the driver was told, the error, or None)"""
        before, error = state.launches, None
        try:
            call()
        except (fsc.Error, TypeError, ValueError) as raised:
            error = f"{type(raised).__name__}: {raised}"
        return [read(fake.fake_launch(i % 64)) for i in range(before, state.launches)], error

    def same(self, grid, *args, **named):
        """Both kernels do the same; how many launches of the one the package made."""
        before = self.known.count
        found = self.told(lambda: self.known.kernel[grid](*args, **named))
        self.assertEqual(found, self.told(lambda: self.plain[grid](*args, **named)))
        return self.known.count - before

    def test_second(self):
        y, x = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,))
        self.assertEqual(self.same((2,), y, x, 100, 2.0, True), 1)
        self.assertEqual(self.same((2,), y, x, 100, 2.0, True), 0)
        self.assertEqual(self.same((4,), Tensor(3 << 20, (200,)), Tensor(4 << 20, (200,)), 200, -1.5, True), 0)
        self.assertEqual(self.same(4, y, x, -1, -1.0, True), 0)
        self.assertEqual(self.same((4, 1, 1), Tensor((3 << 20) + 4, (200,)), x, 7, 2.0, True), 0)  # aligned otherwise
        result = self.known.kernel[(2,)](y, x, 100, 2.0, True)
        self.assertIs(self.known.kernel[(2,)](y, x, 100, 2.0, True), result)

    def test_nothing_is_kept(self):
        arrays = [Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,))]
        gone = [weakref.ref(a) for a in arrays]
        for _ in range(2):
            self.known.kernel[lambda meta: (2,)](*arrays, 100, 2.0, True)
        del arrays
        gc.collect()
        self.assertEqual([a() for a in gone], [None, None])
        kernel = triton.jit(_scaled.fn)
        kernel[(2,)](Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,)), 100, 2.0, True)
        kernel = weakref.ref(kernel)
        gc.collect()
        self.assertIsNone(kernel())

    def test_stream(self):
        y, x = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,))
        self.same((2,), y, x, 100, 2.0, True)
        STREAMS[0] = 0xB0
        try:
            self.assertEqual(self.same((2,), y, x, 100, 2.0, True), 0)
            self.assertEqual(fake.fake_launch((state.launches - 1) % 64).stream, 0xB0)
        finally:
            STREAMS[0] = 0xA0

    def test_what_differs(self):
        y, x = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,))
        self.same((2,), y, x, 100, 2.0, True)
        others = [((y, x, 100, 2.0, False), {}), ((y, x, 100, 2.0, 1), {}), ((y, x, 100, 2, True), {}),
                  ((y, x, 100, 2.0, True, 128), {}), ((y, x, 100, 2.0, True), dict(num_warps=2)),
                  ((y, x, 100), dict(f=2.0, EXACT=True)), ((y, x, 100), dict(EXACT=True, f=2.0)),
                  ((Tensor(1 << 20, (100,), "torch.float16"), x, 100, 2.0, True), {}),
                  ((Tensor(1 << 20, (100,), device=1), Tensor(2 << 20, (100,), device=1), 100, 2.0, True), {})]
        for args, named in others:
            with self.subTest(args=args[2:], named=named):
                self.assertEqual(self.same((2,), *args, **named), 1)
                self.assertEqual(self.same((2,), *args, **named), 0)

    def test_errors(self):
        y, x = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,))
        self.same((2,), y, x, 100, 2.0, True)
        for grid, args in [((1 << 40,), (y, x, 100)), ((-1,), (y, x, 100)), ((1, 2, 3, 4), (y, x, 100)),
                           (("a",), (y, x, 100)), ((2,), (y, x, 1 << 70)), ((2,), (y, x, 1 << 63)),
                           ((2,), (Tensor(1 << 20, (100,), device=1), x, 100)),
                           ((2,), (y, Tensor(2 << 20, (100,), device=1), 100)), ((2,), (y, x, None)),
                           ((2,), (y, x)), (lambda meta: meta["n"] // 0, (y, x, 100))]:
            with self.subTest(grid=grid, n=args[2:]):
                if callable(grid):
                    with self.assertRaises(ZeroDivisionError):
                        self.known.kernel[grid](*args, 2.0, True)
                else:
                    self.same(grid, *args, 2.0, True)
        self.assertEqual(self.same((2,), y, x, 100, 2.0, True), 0)

    def test_grid_function(self):
        y, x, metas = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,)), []

        def grid(meta):
            metas.append(dict(meta))
            return (triton.cdiv(meta["n"], meta["BLOCK"]),)

        for n in (100, 100, 1000):
            self.same(grid, y, x, n, 2.0, EXACT=True, num_warps=4)
        self.assertEqual(self.known.count, 1)
        self.assertEqual(metas[0::2], metas[1::2])
        self.assertEqual(metas[4], dict(y=y, x=x, n=1000, f=2.0, EXACT=True, BLOCK=64, num_warps=4))

    def test_grid_raises(self):
        """Its exception comes as it is, and the grid is asked once."""
        y, x, asked = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,)), []
        self.same((2,), y, x, 100, 2.0, True)

        def grid(meta):
            asked.append(meta["n"])
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.known.kernel[grid](y, x, 100, 2.0, True)
        self.assertEqual((asked, self.known.count), ([100], 1))
        for other in ([2, 3], 2.5, "a", None):
            self.same(other, y, x, 100, 2.0, True)
        self.same(lambda meta: [meta["n"], 1], y, x, 100, 2.0, True)

    def test_hook(self):
        y, x, seen = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,)), []
        self.same((2,), y, x, 100, 2.0, True)
        kept = self.known.kernel[(2,)]
        kept(y, x, 100, 2.0, True)
        self.known.kernel.add_pre_run_hook(lambda *args, **named: seen.append(args[2]))
        kept(y, x, 99, 2.0, True)
        self.same((2,), y, x, 100, 2.0, True)
        self.same((2,), y, x, 101, 2.0, True)
        self.assertEqual(seen, [99, 100, 101])

    def test_arrays(self):
        """Kernels with shape contracts: what is left out is filled in, as the package has it."""
        state.params = 8
        known, plain = Counted(fsc.loads(SUM).scaled), fsc.loads(SUM).scaled
        plain._launcher.forget()
        draw, wrong = random.Random(7), 0
        for _ in range(300):
            rows, cols, more = draw.randint(1, 5), draw.choice((1, 63, 64, 1000)), draw.choice((0, 0, 3))
            shape, strides = (rows, cols), (cols + more, draw.choice((1, 1, 1, 2)))
            dtype = draw.choice(("torch.float32", "torch.float16"))
            device = draw.choice((0, 0, 1))
            y = Tensor(draw.choice((1, 2)) << 20, shape, dtype, device, strides)
            x = Tensor((4 << 20) + draw.choice((0, 4)), draw.choice((shape, shape, (rows, cols + 1))), dtype, device,
                       strides)
            args = (y, x, draw.choice((2.0, 2, 0.5)))
            named = draw.choice(({}, {}, dict(k=draw.randint(-2, 2)), dict(num_warps=2), dict(grid=(rows,)),
                                 dict(grid=lambda meta: (meta["BLOCK"] if meta.get("BLOCK") else 1,)),
                                 dict(n_cols=cols)))
            found = self.told(lambda: known.kernel(*args, **named))
            self.assertEqual(found, self.told(lambda: plain(*args, **named)), (shape, strides, named))
            wrong += found[1] is not None
        self.assertTrue(50 < wrong < 250)
        odd = Tensor(1 << 20, (2, 64))
        odd.shape = ("a", 64)
        found = self.told(lambda: known.kernel(odd, Tensor(4 << 20, (2, 64)), 2.0))
        self.assertEqual(found, self.told(lambda: plain(odd, Tensor(4 << 20, (2, 64)), 2.0)))
        self.assertIn("argument y cannot be read", found[1])
        self.assertLess(known.count, wrong + 60)

    def test_many(self):
        """More kinds of launches than are remembered."""
        y, x = Tensor(1 << 20, (100,)), Tensor(2 << 20, (100,))
        for warps in (1, 2, 4):
            for block in (16, 32, 64, 128):
                for named in (dict(f=1.0), dict(f=1), dict(f=True)):
                    for exact in (True, False):
                        self.same((2,), y, x, 100, EXACT=exact, BLOCK=block, num_warps=warps, **named)
        self.assertEqual(self.same((2,), y, x, 100, EXACT=True, BLOCK=16, num_warps=1, f=1.0), 0)
        self.assertEqual(self.same((2,), y, x, 100, EXACT=False, BLOCK=128, num_warps=4, f=True), 1)


if __name__ == "__main__":
    unittest.main()
