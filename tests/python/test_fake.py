"""test_fake.py - arrays on a GPU that is not there: the fake driver of tests/runtime (FSC_CUDA_LIBRARY) writes down
what is launched where, on which stream, with which arguments. CUDA's array interface, DLPack, tensors; streams of all
kinds of owners.
"""
import ctypes as c
import os
import shutil
import sys
import tempfile
import types
import unittest

import fsc
import numpy as np
from kernels import SCALE, SOFTMAX

fake = c.CDLL(os.environ["FSC_CUDA_LIBRARY"]) if os.environ.get("FSC_CUDA_LIBRARY") else None


class Launch(c.Structure):
    """FakeLaunch of fakecuda.h."""
    _fields_ = [("entry", c.c_char * 64), ("grid", c.c_uint * 3), ("block", c.c_uint * 3), ("shared", c.c_uint),
                ("cluster", c.c_uint), ("overlaps", c.c_uint), ("stream", c.c_void_p), ("params", c.c_uint64 * 96)]


class State(c.Structure):
    """The first members of FakeState."""
    _fields_ = [("devices", c.c_int), ("params", c.c_int), ("blocks", c.c_int), ("delay", c.c_int),
                ("generation", c.c_int), ("memory", c.c_size_t), ("version", c.c_int), ("ptx", c.c_int),
                ("registers", c.c_int), ("threads", c.c_int), ("pageable", c.c_int), ("lost", c.c_bool),
                ("live", c.c_int), ("launches", c.c_int)]


if fake:
    fake.fake_launch.restype = Launch
    state = State.in_dll(fake, "fake")


class Device:
    def __init__(self, index, name="id"):
        setattr(self, name, index)
        self.type = "cuda"


class Cuda:
    """What CuPy's arrays have of CUDA's array interface."""

    def __init__(self, address, shape, typestr="<f4", strides=None, device=None, stream=None, read_only=False, **more):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, read_only), "version": 3,
                                         "strides": strides, "stream": stream, **more}
        if device is not None:
            self.device = Device(device)


class Tensor:
    """What has torch's methods."""

    def __init__(self, address, shape, device=0, kind="cuda"):
        self.address, self.shape, self.dtype, self.device = address, shape, "torch.float32", Device(device, "index")
        self.device.type = kind

    def data_ptr(self):
        return self.address

    def stride(self):
        return (self.shape[1], 1)


class Managed(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.c_void_p), ("byte_offset", c.c_uint64), ("context", c.c_void_p), ("deleter", c.c_void_p)]


class Dlpack:
    """A producer on a GPU; `asked` is the stream that it was asked to be ready on."""

    def __init__(self, address, shape, device=1, kind=2, code=2, bits=32):
        self.shape = (c.c_int64 * len(shape))(*shape)
        self.managed = Managed(address - 8, kind, device, len(shape), code, bits, 1, self.shape, None, 8)
        self.kind, self.device = kind, device
        self.asked = []

    def __dlpack_device__(self):
        return self.kind, self.device

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        new = c.pythonapi.PyCapsule_New
        new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        return new(c.addressof(self.managed), b"dltensor", None)


Y, X = 0x10000, 0x20000


@unittest.skipUnless(fake, "FSC_CUDA_LIBRARY does not name the fake driver")
class Fake(unittest.TestCase):
    def setUp(self):
        state.params = 6
        self.softmax = fsc.load(SOFTMAX).softmax

    def last(self):
        return fake.fake_launch((state.launches - 1) % 64)

    def launched(self, *args, **named):
        before = state.launches
        self.softmax(*args, **named)
        self.assertEqual(state.launches, before + 1)
        return self.last()

    def refused(self, why, *args, **named):
        before = state.launches
        with self.assertRaisesRegex(fsc.ArgumentError, why):
            self.softmax(*args, **named)
        self.assertEqual(state.launches, before)

    def test_what_is_launched(self):
        launch = self.launched(Cuda(Y, (5, 781)), Cuda(X, (5, 781), strides=(4096, 4)))
        self.assertEqual((launch.entry.decode(), launch.grid[0]), ("softmax", 5))
        self.assertEqual(list(launch.params)[:6], [Y, X, 781, 1024, 5, 781])
        launch = self.launched(Tensor(Y, (7, 64)), Tensor(X, (7, 64)))
        self.assertEqual((launch.grid[0], list(launch.params)[:6]), (2, [Y, X, 64, 64, 7, 64]))  # four rows a warp
        launch = self.launched(Dlpack(Y, (3, 32)), Dlpack(X, (3, 32)))
        self.assertEqual((launch.grid[0], list(launch.params)[:6]), (1, [Y, X, 32, 32, 3, 32]))
        launch = self.launched(fsc.Array(Y, "fp32", (2, 16), device="cuda:0"),
                               fsc.Array(X, "fp32", (2, 16), (100, 1), device="cuda"))
        self.assertEqual((launch.grid[0], list(launch.params)[:6]), (1, [Y, X, 16, 100, 2, 16]))

    def test_overlap(self):
        y, x = Cuda(Y, (5, 1000)), Cuda(X, (5, 1000))
        for overlap in (False, True, False):
            self.softmax.using(overlap=overlap)(y, x)
            self.assertEqual(self.last().overlaps, overlap)
        self.assertEqual(fsc.triton._jit.OPTIONS["launch_pdl"], "overlap")

    def test_tuned_num_warps(self):
        """Rows that differ in num_warps alone: each launch takes the code that was compiled for its row."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "softmax.dsl")
            shutil.copy(SOFTMAX, path)
            with open(os.path.join(folder, "softmax.tune"), "w", encoding="utf-8") as file:
                file.write("fsc-tune 1\nkernel softmax on sm_90 132\nn_cols=600: num_warps=8\n"
                           "n_cols=1000: num_warps=2\nkernel softmax on sm_80 108\nn_cols=600: num_warps=16\n")
            self.softmax = fsc.load(path).softmax
            for _ in range(2):
                for columns, warps in ((600, 8), (1000, 2), (520, 8), (1024, 2)):
                    y, x = (Cuda(0x10000 * (i + 1), (64, columns), device=0) for i in range(2))
                    self.assertEqual(self.launched(y, x).block[0], 32 * warps, columns)
            self.softmax = self.softmax.using(num_warps=4)
            self.assertEqual(self.launched(y, x).block[0], 128)

    def test_which_gpu(self):
        for device in (0, 1):
            self.launched(Cuda(Y, (5, 64), device=device), Cuda(X, (5, 64), device=device))
        self.assertEqual(sorted(self.softmax._by_device), ["cuda:0", "cuda:1"])
        self.launched(Cuda(Y, (5, 64)), Cuda(X, (5, 64), device=1))
        self.assertEqual(sorted(self.softmax._by_device), ["cuda:0", "cuda:1"])
        self.launched(Cuda(Y, (5, 64)), Cuda(X, (5, 64)))
        self.assertEqual(sorted(self.softmax._by_device), ["cuda:0", "cuda:1"])
        self.refused("its arrays are in memory of GPU 0 and in memory of GPU 1", Cuda(Y, (5, 64), device=0),
                     Tensor(X, (5, 64), device=1))
        self.refused("in GPU memory and in host memory", Cuda(Y, (5, 64)), np.zeros((5, 64), np.float32))
        self.refused("argument y is on device .*, where kernels do not run", Tensor(Y, (5, 64), kind="meta"),
                     Tensor(X, (5, 64)))
        with self.assertRaisesRegex(fsc.DeviceError, "there is no device cuda:7; the driver sees 2"):
            self.softmax(Cuda(Y, (5, 64), device=7), Cuda(X, (5, 64), device=7))
        with self.assertRaisesRegex(fsc.ArgumentError, "its arrays are in GPU memory, and it is to run on device emu"):
            self.softmax.using(device="emu")(Cuda(Y, (5, 64)), Cuda(X, (5, 64)))

    def test_the_gpu_that_is_asked_for(self):
        """A device that is no GPU of the arrays is refused; "cuda" is the arrays',
        and without them the current context's at each call."""
        on = [(Cuda(Y, (5, 64), device=i), Tensor(X, (5, 64), device=i)) for i in (0, 1)]
        nowhere, first = (Cuda(Y, (5, 64)), Cuda(X, (5, 64))), self.softmax
        for i in (0, 1):
            self.softmax = first.using(device=f"cuda:{i}")
            self.launched(*on[i])
            self.launched(*nowhere)
            self.refused(f"its arrays are in memory of GPU {1 - i}, and it is to run on device cuda:{i}", *on[1 - i])
            self.assertEqual(list(self.softmax._by_device), [f"cuda:{i}"])
            self.softmax = first.using(device="cuda")
            self.launched(*on[i])
            self.assertEqual(list(self.softmax._by_device), [f"cuda:{i}"])
        self.refused("in memory of GPU 0 and in memory of GPU 1", on[0][0], on[1][1])
        try:
            for kernel in (first.using(device="cuda"), first.using()):
                self.softmax = kernel
                for i in (1, 0):
                    fake.fake_set_current(i)
                    self.launched(*nowhere)
                    self.assertEqual(list(kernel._by_device), ["cuda:1", "cuda:0"][:2 - i])
        finally:
            fake.fake_set_current(-1)

    def test_numbers_alone(self):
        source = "@kernel(grid=(1,))\ndef nothing(n: i32):\n    i = program_id(0) + n\n"
        before, state.params = state.launches, 1
        fsc.loads(source, device="cuda").nothing(3)
        self.assertEqual(state.launches, before + 1)

    def test_streams(self):
        y, x = Cuda(Y, (5, 64)), Cuda(X, (5, 64))
        self.assertIsNone(self.launched(y, x).stream)
        self.assertEqual(self.launched(y, x, stream=0x77).stream, 0x77)
        self.assertEqual(self.launched(y, x, stream=types.SimpleNamespace(cuda_stream=0x78)).stream, 0x78)
        self.assertEqual(self.launched(y, x, stream=types.SimpleNamespace(ptr=0x79)).stream, 0x79)
        self.assertEqual(self.launched(y, x, stream=types.SimpleNamespace(__cuda_stream__=lambda: (0, 0x80))).stream,
                         0x80)

    def test_streams_of_arrays(self):
        waits = lambda: fake.fake_calls(b"cuStreamSynchronize")  # noqa: E731
        before = waits()
        on = Cuda(X, (5, 64), stream=0x91)
        self.assertEqual(self.launched(Cuda(Y, (5, 64)), on).stream, 0x91)
        self.assertEqual(self.launched(Cuda(Y, (5, 64), stream=0x91), on).stream, 0x91)
        self.assertEqual(waits(), before)
        self.assertEqual(self.launched(Cuda(Y, (5, 64)), on, stream=0x92).stream, 0x92)
        self.assertEqual(waits(), before + 1, "what made the array is waited for")
        self.assertIsNone(self.launched(Cuda(Y, (5, 64)), Cuda(X, (5, 64))).stream, "nothing is kept from call to call")

    def test_dlpack_is_told_the_stream(self):
        x = Dlpack(X, (3, 32))
        self.launched(Dlpack(Y, (3, 32)), x)
        self.assertEqual(x.asked, [1])
        self.assertEqual(self.launched(Dlpack(Y, (3, 32)), x, stream=0x93).stream, 0x93)
        self.assertEqual(x.asked, [1, 0x93])

    def test_unreadable(self):
        y = Cuda(Y, (5, 64))
        self.refused("argument x has elements of type <c8", y, Cuda(X, (5, 64), typestr="<c8"))
        self.refused("argument x has a mask", y, Cuda(X, (5, 64), mask=y))
        self.refused("argument y is read-only, and the kernel writes it", Cuda(Y, (5, 64), read_only=True), y)
        self.refused("DLPack's type \\(5, 64 bits", Dlpack(Y, (5, 64)), Dlpack(X, (5, 64), code=5, bits=64))
        self.refused("DLPack's kind 10", Dlpack(Y, (5, 64)), Dlpack(X, (5, 64), kind=10))
        self.launched(y, Cuda(X, (5, 64), read_only=True))

    def test_bf16_by_dlpack(self):
        """Its typestr says nothing, its DLPack type does."""
        scale = fsc.loads(SCALE).scale

        def both(address):
            array = Dlpack(address, (100,), code=4, bits=16)
            array.__cuda_array_interface__ = {"shape": (100,), "typestr": "<V2", "data": (address, False), "version": 3}
            return array

        scale(both(Y), both(X))
        self.assertEqual(self.last().entry.decode(), "scale")
        with self.assertRaisesRegex(fsc.ArgumentError, "argument x has elements of type <V2"):
            scale(both(Y), Cuda(X, (100,), typestr="<V2"))

    def test_torch_stream(self):
        """A torch.Tensor goes to torch's current stream of its GPU; what comes by another protocol beside it, too."""
        from fsc import _arrays

        class Real(Tensor):
            is_cuda = True

            def get_device(self):
                return self.device.index

        current = {0: 0xA0, 1: 0xA1}
        sys.modules["torch"] = types.SimpleNamespace(Tensor=Real, cuda=types.SimpleNamespace(
            is_initialized=lambda: True, current_stream=lambda i: types.SimpleNamespace(cuda_stream=current[i])))
        try:
            for device in (0, 1):
                self.assertEqual(self.launched(Real(Y, (7, 64), device), Real(X, (7, 64), device)).stream,
                                 0xA0 + device)
            current[1] = 0xB1
            self.assertEqual(self.launched(Real(Y, (7, 64), 1), Real(X, (7, 64), 1)).stream, 0xB1)
            self.assertEqual(self.launched(Real(Y, (7, 64), 1), Real(X, (7, 64), 1), stream=5).stream, 5)
            x = Dlpack(X, (7, 64))
            self.assertEqual(self.launched(Cuda(Y, (7, 64)), Real(X, (7, 64), 1)).stream, 0xB1)
            self.assertEqual(self.launched(Real(Y, (7, 64), 1), x).stream, 0xB1)
            self.assertEqual(x.asked, [0xB1])
        finally:
            del sys.modules["torch"]
            _arrays._raw_stream = None


if __name__ == "__main__":
    unittest.main()
