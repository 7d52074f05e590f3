"""test_odd.py - objects that claim to be arrays and lie, threads, and the library that the Python package finds."""
import ctypes as c
import gc
import numbers
import os
import subprocess
import sys
import threading
import types
import unittest

import fsc
import numpy as np
from fsc import _arrays as arrays
from kernels import ADD_IN_PLACE, SCALE, SOFTMAX, WRONG, OnlyDlpack, softmax_of

DEVICES = ["cpu", "emu"]
rng = np.random.default_rng(0)


class OddObjects(unittest.TestCase):
    """Objects that claim to be arrays, numbers or streams, and lie or raise: fsc.ArgumentError, whatever they do."""

    ERRORS = [TypeError("t"), KeyError("k"), AttributeError("a"), ValueError(), OverflowError("o"), RuntimeError("r"),
              BufferError("b"), RecursionError("d"), ZeroDivisionError("z"),
              type("Unspeakable", (Exception,), {"__str__": lambda self: 1 // 0})()]
    NONSENSE = [None, "x", b"x", 1.5, -1, 2**63, -2**63 - 1, 2**64, 2**200, (), [], {}, (1, 2, 3), object(),
                float("nan"), "<f4", (None,), [1.5], ("4",)]

    def setUp(self):
        self.kernel = fsc.loads(SCALE).scale
        self.y, self.x = np.zeros(4, np.float32), np.ones(4, np.float32)

    def refused(self, odd, what):
        for args in [(odd, self.x), (self.y, odd)]:
            try:
                self.kernel(*args, f=2.0)
            except fsc.ArgumentError as error:
                self.assertRegex(str(error), "kernel scale", what)
            except Exception as error:  # pylint: disable=broad-except
                self.fail(f"{what}: {type(error).__name__}: {error}")
            else:
                self.fail(f"{what}: launched")
        self.kernel(self.y, self.x, f=3.0)
        self.assertEqual(self.y.tolist(), [3.0] * 4, what)

    @staticmethod
    def raises(error):
        def get(self, *args, **named):
            raise error
        return get

    def test_what_raises(self):
        for error in self.ERRORS:
            for name in ["__array_interface__", "__cuda_array_interface__", "__dlpack__", "__dlpack_device__",
                         "data_ptr", "shape", "dtype", "device", "stride", "__index__", "__float__", "__class__"]:
                self.refused(type("Odd", (), {name: property(self.raises(error))})(),
                             f"property {name} raises {error!r:.20}")
            methods = {"__dlpack__": self.raises(error), "__dlpack_device__": lambda self: (1, 0)}
            self.refused(type("Odd", (), methods)(), "__dlpack__ raises")
            self.refused(type("Odd", (), {**methods, "__dlpack_device__": self.raises(error)})(),
                         "__dlpack_device__ raises")
            tensor = dict(data_ptr=lambda self: 64, dtype="fp32", shape=(4,), stride=lambda self: (1,), device="cpu")
            for name in ("data_ptr", "stride"):
                self.refused(type("Odd", (), {**tensor, name: self.raises(error)})(), f"a tensor's {name} raises")
            number = type("Odd", (), {"__index__": self.raises(error), "__int__": self.raises(error),
                                      "__float__": self.raises(error)})
            for kind in (numbers.Integral, numbers.Real):
                kind.register(number)
                self.refused(number(), "a number raises")

    def test_what_lies(self):
        true = dict(self.x.__array_interface__, strides=(4,))
        for protocol in ("__array_interface__", "__cuda_array_interface__"):
            for odd in self.NONSENSE:
                self.refused(type("Odd", (), {protocol: odd})(), f"{protocol} is {odd!r}")
                for key in ("typestr", "shape", "strides", "data"):
                    is_fine = (key == "strides" and odd is None) or (key == "typestr" and odd == "<f4")
                    is_fine |= key == "shape" and odd in ((), [], {}, b"", ())
                    if not is_fine:
                        self.refused(type("Odd", (), {protocol: {**true, key: odd}})(), f"{protocol}: {key} is {odd!r}")
            for typestr in ("<f8", "<V4", ">f4", "<f3", "|O8", "<M8", "<f", "<4", "", "<f0", "<f-4", "<c8", "\udcff",
                            "<f4x"):
                self.refused(type("Odd", (), {protocol: {**true, "typestr": typestr, "strides": (3,)}})(),
                             f"{protocol}: {typestr!r}")
            self.refused(type("Odd", (), {protocol: {**true, "typestr": "<V8"}, "dtype": "float32"})(),
                         "a typestr of another size")
            for data in ((0, False, 1), (2**64, False), (-1, False), ("x", False), (1.5, False), (None,)):
                self.refused(type("Odd", (), {protocol: {**true, "data": data}})(), f"{protocol}: data is {data!r}")
            for shape in ((-4,), (2**31,), (2**63,), (4, 4), (1,) * 9, ("4",), (4.0,), (2**62, 2**62)):
                self.refused(type("Odd", (), {protocol: {**true, "shape": shape, "strides": None}})(),
                             f"{protocol}: shape is {shape!r}")
        gpu = dict(true, stream=None)
        for stream in (-1, 2**64, "x", 1.5, [], object()):
            self.refused(type("Odd", (), {"__cuda_array_interface__": {**gpu, "stream": stream}})(),
                         f"stream is {stream!r}")
        for device in (-1, 4095, 2**40, -2**70):
            array = type("Odd", (), {"__cuda_array_interface__": gpu, "device": type("D", (), {"id": device})()})
            self.refused(array(), f"on GPU {device}")

    def test_dlpack(self):
        capsule = self.x.__dlpack__
        for odd in self.NONSENSE:
            methods = {"__dlpack__": lambda self, stream=None, odd=odd: odd, "__dlpack_device__": lambda self: (1, 0)}
            self.refused(type("Odd", (), methods)(), f"__dlpack__ gives {odd!r}")
            methods = {"__dlpack__": lambda self, stream=None: capsule(),
                       "__dlpack_device__": lambda self, odd=odd: odd}
            self.refused(type("Odd", (), methods)(), f"__dlpack_device__ gives {odd!r}")

        class Lying(OnlyDlpack):
            """The capsule of an array, changed."""
            change = {}

            def __dlpack__(self, stream=None):
                found = super().__dlpack__()
                t = arrays._DLTensor.from_address(arrays._capsule_pointer(found, b"dltensor"))
                for name, value in self.change.items():
                    setattr(t, name, value)
                return found

        sizes = (c.c_int64 * 1)(-4)
        for change in [dict(ndim=-1), dict(ndim=9), dict(ndim=2**31 - 1), dict(shape=c.POINTER(c.c_int64)()),
                       dict(bits=7), dict(code=99), dict(lanes=4), dict(shape=c.cast(sizes, c.POINTER(c.c_int64))),
                       dict(byte_offset=2**64 - 1)]:
            self.refused(type("Changed", (Lying,), {"change": change})(self.x), f"DLPack with {change}")

    def test_streams(self):
        class Raising:
            @property
            def cuda_stream(self):
                raise RuntimeError("r")

            __repr__ = cuda_stream.fget

        for stream in (Raising(), -1, 2**64, "x", 1.5, type("S", (), {"__cuda_stream__": lambda self: 5})(),
                       type("S", (), {"__cuda_stream__": lambda self: (0, "x")})()):
            with self.assertRaisesRegex(fsc.ArgumentError, "is no stream"):
                self.kernel(self.y, self.x, f=1.0, stream=stream)

    def test_arrays_of_ours(self):
        for args in [("x", "fp32", (4,)), (64, "fp32", 4), (64, "fp32", ("4",)), (64, "fp32", (4,), (1.5,)),
                     (None, "fp32", (4,)), (64, object(), (4,)), (64, "\udcff", (4,)), (64, "fp32", (4,), None, 5),
                     (64, "fp32", (4,), None, "cuda:\u0665"), (64, "fp32", (4,), None, "cuda:4095")]:
            with self.assertRaises(fsc.ArgumentError, msg=repr(args)):
                fsc.Array(*args)
        for args in [(64, "fp32", (4,), (1, 1)), (-1, "fp32", (4,)), (2**64, "fp32", (4,)), (64, "fp32", (2**63,)),
                     (64, "fp32", (-4,))]:
            self.refused(fsc.Array(*args), repr(args))
        self.refused(fsc.view(fsc.Array(64, "fp32", (4,)), "fp64"), "a view of another size")


class Together(unittest.TestCase):
    def test_threads(self):
        for device, calls in [("cpu", 60), ("emu", 6)]:
            softmax = fsc.load(SOFTMAX, device=device).softmax
            wrong = []

            def work(seed, softmax=softmax, calls=calls, wrong=wrong):
                own = np.random.default_rng(seed)
                for i in range(calls):
                    x = own.normal(size=(1 + i % 3, 3 + 40 * (i % 5))).astype(np.float32)
                    y = np.zeros_like(x)
                    try:
                        softmax(y, x)
                        np.testing.assert_allclose(y, softmax_of(x), rtol=2e-6)
                        softmax(y, x[:, :-1])
                        wrong.append("no error")
                    except fsc.ArgumentError as error:
                        if f"n_cols is {x.shape[1]} by the shape of y, and {x.shape[1] - 1} by" not in str(error):
                            wrong.append(str(error))
                    except Exception as error:  # noqa: BLE001 - whatever it is, it is shown
                        wrong.append(repr(error))

            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(wrong[:3], [])

    def test_errors_of_threads(self):
        """Each thread's error is its own: one kernel, an element type a thread, of which the message tells."""
        kernel, wrong = fsc.loads(WRONG, file="wrong.dsl").wrong, []

        def work(dtype):
            y = fsc.view(np.zeros(8, {"fp32": np.float32, "fp64": np.float64}.get(dtype, np.uint16)), dtype)
            for _ in range(40):
                try:
                    kernel(y)
                    wrong.append("no error")
                except fsc.SourceError as error:
                    if f"tile<4x{dtype}>" not in str(error):
                        wrong.append(f"{dtype}: {error}")

        threads = [threading.Thread(target=work, args=(dtype,)) for dtype in ("fp16", "bf16", "fp32", "fp64")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong[:3], [])

    def test_a_call_within_a_call(self):
        """An argument that is made while it is read, by the same kernel."""
        scale = fsc.loads(SCALE).scale
        x, inner, y = np.full(8, 4, np.float32), np.zeros(8, np.float32), np.zeros(8, np.float32)

        class Made:
            @property
            def __array_interface__(self):
                scale(inner, x)
                return inner.__array_interface__

        scale(y, Made())
        self.assertTrue((y == 1).all())

    def test_kernels_come_and_go(self):
        x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
        for _ in range(20):
            fsc.loads(SCALE).scale(y, x)
        gc.collect()
        scale = fsc.loads(SCALE).scale
        add = fsc.loads(ADD_IN_PLACE).add_in_place
        scale(y, x)
        add(y, x)
        self.assertTrue((y == 1.5).all())


class Library(unittest.TestCase):
    def run_with(self, **env):
        return subprocess.run([sys.executable, "-c", "import fsc; print(fsc.version)"],
                              env={**os.environ, "LD_PRELOAD": "", **env}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True).stdout

    def test_missing(self):
        self.assertIn("LibraryError: FSC_LIBRARY names no library that can be loaded: nowhere.so",
                      self.run_with(FSC_LIBRARY="nowhere.so"))

    def test_of_another_version(self):
        said = self.run_with(FSC_LIBRARY="libm.so.6")
        self.assertIn("LibraryError: libm.so.6 is another version than this package: it has no fsc_version", said)

    def test_of_another_number(self):
        from fsc import _library

        with self.assertRaisesRegex(fsc.LibraryError, "a.so is another version than this package: number 9, not "
                                                      f"{_library.VERSION_NUMBER}"):
            _library.check_version(types.SimpleNamespace(fsc_version_number=lambda: 9), "a.so")

    def test_this_one(self):
        self.assertRegex(fsc.version, r"^fsc \d+\.\d+")
        self.assertTrue(os.path.exists(fsc.library_path))


if __name__ == "__main__":
    unittest.main()
