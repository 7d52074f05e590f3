"""test_numpy.py - the Python package on the CPU and on emulated threads: NumPy's arrays and those of other protocols,
against formulas in float64; every mistake with fsc's message; threads.
"""
import inspect
import os
import pathlib
import tempfile
import unittest

import fsc
import numpy as np
from kernels import (ASKS, BEYOND, COPY, EXAMPLES, NESTED, NO_RULE, SAME, SCALE, SOFTMAX, TOLD, TRANSPOSE, TRITON,
                     LikeTorch, OnlyDlpack, OnlyInterface, softmax_of)

DEVICES = ["cpu", "emu"]
rng = np.random.default_rng(0)


class Launches(unittest.TestCase):
    def test_softmax(self):
        for device in DEVICES:
            softmax = fsc.load(SOFTMAX, device=device).softmax
            for shape in [(1, 1), (3, 31), (5, 781), (2, 1025)]:
                x = rng.normal(size=shape).astype(np.float32) * 5
                y = np.full_like(x, np.nan)
                self.assertIsNone(softmax(y, x))
                np.testing.assert_allclose(y, softmax_of(x), rtol=2e-6, atol=1e-9)

    def test_a_tuning_file_beside_the_source(self):
        """Each length has its row's variant, from the first launch on and when it comes again."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "softmax.dsl")
            source.write_text(pathlib.Path(SOFTMAX).read_text(), encoding="utf-8")
            pathlib.Path(folder, "softmax.tune").write_text(
                "fsc-tune 1\nkernel softmax on sm_90 132\nn_cols=64 T=fp32: BLOCK=128 num_warps=4\n"
                "n_cols=512 T=fp32: BLOCK=512 num_warps=1\nn_cols=1024 T=fp32: BLOCK=2048 num_warps=8\n"
                "kernel softmax on cpu 1\nn_cols=64: BLOCK=256\n", encoding="utf-8")
            for device in DEVICES:
                softmax = fsc.load(source, device=device).softmax
                for n in (60, 500, 1000, 60, 1000, 500):
                    x = rng.normal(size=(3, n)).astype(np.float32)
                    y = np.full_like(x, np.nan)
                    softmax(y, x)
                    np.testing.assert_allclose(y, softmax_of(x), rtol=2e-6, atol=1e-9)
                    report = softmax.inspect(y, x, emit="report", arch="sm_90").decode()
                    block, warps = {60: (128, 4), 500: (512, 1), 1000: (2048, 8)}[n]
                    self.assertIn("param constexpr BLOCK int %d tuned" % block, report)
                    self.assertRegex(report, r'num_warps ".*" %d\n' % warps)

    def test_a_rule_that_compares_arrays(self):
        """In place and not, by turns: each has its variant, from the first launch on and when it comes again."""
        for device in DEVICES:
            for warps in ("4", "2 if y == x else 4"):
                twice = fsc.loads(SAME.format(warps=warps), device=device).twice
                for _ in range(3):
                    x = rng.normal(size=(3, 77)).astype(np.float32)
                    y, z = np.full_like(x, np.nan), x.copy()
                    twice(y, x)
                    twice(z, z)
                    np.testing.assert_array_equal(y, 2 * x)
                    np.testing.assert_array_equal(z, -x)

    def test_inspection_for_the_own_arch(self):
        """A rule that asks what the device has is answered also where the device's own arch is named."""
        for device in DEVICES:
            asks = fsc.loads(ASKS, device=device).asks
            y = np.zeros(1, np.int32)
            asks(y)
            for arch in (None, device):
                report = asks.inspect(y, emit="report", arch=arch).decode()
                self.assertIn("param constexpr ROOM int %d rule" % y[0], report)
            self.assertGreater(y[0], 0)

    def test_strides_come_from_views(self):
        for device in DEVICES:
            softmax = fsc.load(SOFTMAX, device=device).softmax
            whole = np.full((6, 100), 7, np.float32)
            x, y = rng.normal(size=(12, 64)).astype(np.float32)[::2, 3:40], whole[:, 5:42]
            softmax(y, x)
            np.testing.assert_allclose(y, softmax_of(x), rtol=2e-6)
            self.assertTrue((whole[:, :5] == 7).all() and (whole[:, 42:] == 7).all(),
                            "what lies beside the view is as it was")

    def test_both_strides(self):
        for device in DEVICES:
            transpose = fsc.loads(TRANSPOSE, device=device).transpose
            x = rng.normal(size=(7, 5)).astype(np.float32)
            y = np.zeros((5, 7), np.float32)
            transpose(y, x)
            np.testing.assert_array_equal(y, x.T)
            transpose(y.T, x.T)  # turned by their strides alone
            np.testing.assert_array_equal(y, x.T)

    def test_rules_ask_for_types(self):
        for device in DEVICES:
            told = fsc.loads(TOLD, device=device).told
            for dtype, value in [("float32", 3207), ("float16", 6402), ("int8", 12802), ("float32", 3207)]:
                y = np.zeros(100, np.int32)
                told(y, np.zeros(100, dtype))
                np.testing.assert_array_equal(y, value, err_msg=dtype)

    def test_every_element_type(self):
        copy = fsc.loads(COPY).copy
        for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                      "float32", "float64"]:
            x = rng.integers(0, 2, 77).astype(dtype)
            y = np.zeros_like(x)
            copy(y, x)
            np.testing.assert_array_equal(y, x, err_msg=dtype)

    def test_types_that_numpy_lacks(self):
        scale = fsc.loads(SCALE).scale
        x = np.array([1, 2, -3], np.float32).view(np.uint32) >> 16
        x = x.astype(np.uint16)  # bf16's bits
        y = np.zeros_like(x)
        scale(fsc.view(y, "bf16"), fsc.view(x, "bf16"), f=2.0)
        np.testing.assert_array_equal((y.astype(np.uint32) << 16).view(np.float32), [2, 4, -6])
        copy, codes = fsc.loads(COPY).copy, np.arange(256, dtype=np.uint8)
        for dtype in ("fp8e4nv", "float8_e5m2"):
            y = np.zeros_like(codes)
            copy(fsc.view(y, dtype), fsc.view(codes, dtype))
            np.testing.assert_array_equal(y, codes)
        with self.assertRaisesRegex(fsc.ArgumentError,
                                    "argument y is seen as bf16, and its elements are not of that size"):
            scale(fsc.view(np.zeros(3, np.float32), "bf16"), fsc.view(x, "bf16"))
        with self.assertRaisesRegex(fsc.ArgumentError, "there is no element type fp12"):
            fsc.view(x, "fp12")

    def test_any_protocol(self):
        scale = fsc.loads(SCALE).scale
        x = np.arange(100, dtype=np.float32)
        for wrap in (OnlyInterface, OnlyDlpack, LikeTorch):
            y = np.zeros(100, np.float32)
            scale(wrap(y), wrap(x))
            np.testing.assert_array_equal(y, x / 2, err_msg=wrap.__name__)
            every = np.zeros((10, 20), np.float32)
            scale(wrap(every[0, ::1][:10]), wrap(x[:10]))
            np.testing.assert_array_equal(every[0, :10], x[:10] / 2)
        y = np.zeros(100, np.float32)
        scale(fsc.Array(y.ctypes.data, "fp32", (100,), owner=y), x)
        np.testing.assert_array_equal(y, x / 2)

    def test_one_row_takes_a_matrix(self):
        scale = fsc.loads(SCALE).scale
        x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros((2, 2, 3), np.float32)
        scale(y, x)
        np.testing.assert_array_equal(y.ravel(), x.ravel() / 2)

    def test_numbers(self):
        scale, mark = fsc.loads(SCALE).scale, fsc.loads(NO_RULE).mark
        x = np.ones(4, np.float32)
        for f in (2, 2.0, np.float32(2), np.float64(2), np.int16(2), np.uint64(2)):
            y = np.zeros(4, np.float32)
            scale(y, x, f=f)
            self.assertEqual(y.tolist(), [2.0] * 4, repr(f))
        scale(y, x, f=np.bool_(True))
        scale(x, y, f=True)
        self.assertEqual(x.tolist(), [1.0] * 4)
        y = np.zeros(4, np.int32)
        mark(y, np.int64(3), 1 << 63, grid=4)
        self.assertEqual(y.tolist(), [11, 12, 13, 14])
        with self.assertRaisesRegex(fsc.ArgumentError,
                                    "argument value is 18446744073709551616, which does not fit 64 bits"):
            mark(y, 3, 1 << 64, grid=4)

    def test_integers_of_64_bits(self):
        """What a type holds arrives, and what it does not hold is refused: the number is never another."""
        types = {"i8": np.int8, "u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
                 "fp64": np.float64}
        values = [0, 1, -1, 127, 128, 255, 256, -129, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 5, -2**63, -2**63 - 1,
                  2**64, np.uint64(2**64 - 1)]
        for name, dtype in types.items():
            keep = fsc.loads(f"@kernel(grid=(1,))\ndef keep(y: *{name}, v: {name}):\n    store(y, v)\n").keep
            is_float = name == "fp64"
            for value in values:
                y, number = np.zeros(1, dtype), int(value)
                fits = -2**63 <= number < 2**64 if is_float else np.iinfo(dtype).min <= number <= np.iinfo(dtype).max
                if fits:
                    keep(y, value)
                    self.assertEqual(float(y[0]) if is_float else int(y[0]), float(number) if is_float else number,
                                     f"{name} {value}")
                else:
                    with self.assertRaisesRegex(fsc.ArgumentError, f"argument v is {number}, which does not fit"):
                        keep(y, value)

    def test_grids(self):
        for device in DEVICES:
            mark = fsc.loads(NO_RULE, device=device).mark
            for grid, count in [(4, 4), ((3,), 3), ([4, 2], 8), ((4, 2, 1), 8), (np.int64(2), 2),
                                ([np.int32(4), np.uint8(2)], 8)]:
                y = np.full(8, -1, np.int32)
                mark(y, 0, 0, grid=grid)
                self.assertEqual(y.tolist(), list(range(count)) + [-1] * (8 - count))
        mark = fsc.loads(NO_RULE).mark
        for grid, why in [(None, "has no launch rule: give it a grid"),
                          ((1, 2, 3, 4), "a grid is one to three numbers, not 4"), ((-1,), "the grid's x is -1"),
                          ((1, 70000), "70000 programs along y are beyond the limit, 65535"),
                          ((1.5,), "the grid \\(1.5,\\) is no whole number"), (2.0, "the grid 2.0 is no"),
                          ("4", "the grid '4' is no"), (np.zeros(()), "is no whole number"),
                          ((1 << 63,), "no whole numbers of 64 bits"), ((), "a grid is one to three numbers, not 0")]:
            with self.assertRaisesRegex(fsc.ArgumentError, why):
                mark(y, 0, 0, grid=grid)
        mark(y, 0, 0, grid=0)

    def test_meta(self):
        """What a grid that is a function is given: defaults, settings as numbers, arguments by position and by name."""
        source = ("@kernel\ndef mark(y: *i32, n: i32, k: fp32 = 0.25, B: constexpr = 16, C: constexpr = 2, D: "
                  "constexpr = 3, T: dtype = i32, U: dtype):\n"
                  "    store(y + program_id(0), B + C + D)\n")
        self.assertNotIn("U", fsc.loads(source).mark._meta((), {}))
        mark, y, seen = fsc.loads(source).mark.using(C="4", U="fp16", fast_math=True), np.zeros(4, np.int32), {}
        mark[lambda meta: seen.update(meta) or (2,)](y, 5, D=7)
        self.assertIs(seen.pop("y"), y)
        self.assertEqual(seen, {"n": 5, "k": 0.25, "B": 16, "C": 4, "D": 7, "T": "i32", "U": "fp16", "fast_math": 1})
        self.assertEqual(y.tolist(), [27, 27, 0, 0])

    def test_tritons_source(self):
        """Parameters without types: pointers and numbers as the arguments are."""
        for device in DEVICES:
            add = fsc.loads(TRITON, file="add.py", device=device).add
            for dtype, factor in [(np.float32, 2.0), (np.float64, 2.0), (np.int32, 2)]:
                x, y = np.arange(300, dtype=dtype), np.full(300, 7, dtype)
                x.flags.writeable = False
                out = np.zeros_like(y)
                add(x, y, out, 300, factor, BLOCK=128, grid=3)
                np.testing.assert_array_equal(out, (x + y) * 2)
                out[:] = 0
                add[(3,)](x, y, out, 300, factor, BLOCK=128)
                np.testing.assert_array_equal(out, (x + y) * 2)
                for kernel, named in [(add, {"BLOCK": 64}), (add.using(BLOCK=64, num_warps=2), {})]:
                    out[:] = 0
                    kernel[lambda meta: (-(-300 // meta["BLOCK"]),)](x, y, out, 300, factor, **named)
                    np.testing.assert_array_equal(out, (x + y) * 2)
                with self.assertRaisesRegex(fsc.ArgumentError,
                                            "argument out_ptr is read-only, and the kernel writes it"):
                    add(y, y, x, 300, factor, BLOCK=128, grid=3)
            with self.assertRaisesRegex(fsc.ArgumentError, "argument n is missing, and no array says what it is"):
                add(x, y, out, factor=2, BLOCK=128, grid=3)
            with self.assertRaisesRegex(fsc.SourceError,
                                        "add.py:7:.*the constexpr parameter 'BLOCK' of 'add' has no value"):
                add(x, y, out, 300, factor, grid=3)

    def test_descriptors(self):
        """A descriptor's parts come from an array, view or not."""
        text = ("import triton.language as tl\n@triton.jit\ndef halves(y, x):\n"
                "    at = [tl.program_id(0) * 2, 0]\n    y.store(at, x.load(at) * 0.5)\n")
        kernel = fsc.loads(text, "halves.py").halves.using(x="tensordesc<fp32[2,4]>", y="tensordesc<fp32[2,4]>")
        self.assertIn("x_shape_1: i32, x_stride_0: i64", kernel.signature)
        x, y = np.arange(20, dtype=np.float32).reshape(4, 5)[:3, :3], np.zeros((3, 3), np.float32)
        kernel(x=x, y=y, grid=2)
        np.testing.assert_array_equal(y, x / 2)

    def test_functions_by_name(self):
        """What others call, what stands inside of host functions, what triton.jit(f) makes;
        a broken function is its own affair."""
        source = fsc.loads(NESTED, file="nested.py")
        self.assertEqual(source.kernels, ["defaults", "caller", "made", "broken"])
        y = np.zeros(32, np.float32)
        for kernel, value in [(source.nested, 6), (source.called, 2), (source["caller"], 2), (source.made, 5)]:
            kernel[(1,)](y, B=32)
            np.testing.assert_array_equal(y, value, err_msg=kernel.__name__)
        for name in ("plain", "make", "Settings"):
            with self.assertRaisesRegex(AttributeError,
                                        f"nested.py has no kernel '{name}'; it has defaults, caller, made, broken"):
                getattr(source, name)
        with self.assertRaisesRegex(fsc.SourceError, "nested.py:47:.*'with' is not part of the kernel language"):
            source.broken(y)

    def test_other_files(self):
        """Imports are read anew in each handle, whatever the cache holds."""
        kernel = ("import triton\nimport triton.language as tl\nfrom helper import exp\n\n\n@triton.jit\ndef k(x):\n   "
                  " tl.store(x, exp(tl.load(x)))\n")
        helper = "import triton\n\n\n@triton.jit\ndef exp(x):\n    return x + %d\n"
        with tempfile.TemporaryDirectory() as folder:
            path, y = pathlib.Path(folder, "k.py"), np.zeros(1, np.float32)
            path.write_text(kernel)
            with self.assertRaisesRegex(fsc.SourceError, "k.py:8:.*'exp' comes from helper, which is not found"):
                fsc.load(path).k[(1,)](y)
            for add in (1, 20, 300):
                pathlib.Path(folder, "helper.py").write_text(helper % add)
                fsc.load(path).k[(1,)](y)
            self.assertEqual(y.tolist(), [321])
            os.mkdir(os.path.join(folder, "more"))
            pathlib.Path(folder, "more", "helper.py").write_text(helper % 4000)
            pathlib.Path(folder, "helper.py").unlink()
            fsc.load(path, include=os.path.join(folder, "more")).k[(1,)](y)
            self.assertEqual(y.tolist(), [4321])

    def test_defaults_that_only_the_host_knows(self):
        defaults, y = fsc.loads(NESTED, file="nested.py").defaults, np.zeros(32, np.float32)
        self.assertEqual(defaults.signature, "defaults(x, n: i32, B: constexpr, U: constexpr = 2)")
        defaults[(1,)](y, 3, B=32)
        np.testing.assert_array_equal(y, 6)
        defaults.using(B=16)[(1,)](y, 4, U=4)
        np.testing.assert_array_equal(y, [16] * 16 + [6] * 16)
        with self.assertRaisesRegex(fsc.SourceError, "nested.py:24:.*unknown name 'Settings'"):
            defaults[(1,)](y, 3)
        with self.assertRaisesRegex(fsc.ArgumentError, "argument n is missing"):
            defaults[(1,)](y, B=32)

    def test_empty_arrays_launch_nothing(self):
        softmax = fsc.load(SOFTMAX).softmax
        for shape in [(0, 781), (0, 0)]:
            softmax(np.zeros(shape, np.float32), np.zeros(shape, np.float32))

    def test_every_example_has_a_signature(self):
        for name in sorted(os.listdir(EXAMPLES)):
            if name.endswith(".dsl"):
                source = fsc.load(os.path.join(EXAMPLES, name))
                for kernel in source.kernels:
                    self.assertTrue(source[kernel].signature.startswith(kernel + "("))
                    self.assertTrue(source[kernel].writes(), name)


class Settings(unittest.TestCase):
    def test_constexpr_types_and_options(self):
        scale = fsc.loads(SCALE).scale
        x, y = np.ones(300, np.float32), np.zeros(300, np.float32)
        for settings in [{"B": 64}, {"num_warps": 2}, {"opt_level": 0}, {"fast_math": True}, {"T": "fp32"},
                         {"T": np.float32}, {"T": np.dtype("float32")}, {"B": 128, "no_cache": True}]:
            scale(y, x, **settings)
            self.assertTrue((y == 0.5).all())
            y[:] = 0
            scale.using(**settings)(y, x)
            self.assertTrue((y == 0.5).all())
            y[:] = 0
        scale.using(B=64).using(T="fp16")(np.zeros(3, np.float16), np.zeros(3, np.float16))
        self.assertIn("with B = 64", repr(scale.using(B=64)))

    def test_mistakes(self):
        scale = fsc.loads(SCALE).scale
        x = np.ones(3, np.float32)
        for settings, why in [({"num_warps": "two"}, "option num_warps is a whole number, not 'two'"),
                              ({"BB": 3}, "has no parameter 'BB'"),
                              ({"debug": "maybe"}, "option debug is true or false"), ({"T": "fp99"}, "fp99"),
                              ({"passes": "dce,flod"}, "unknown pass 'flod'")]:
            with self.assertRaisesRegex(fsc.Error, why):
                scale(x, x, **settings)
            with self.assertRaisesRegex(fsc.Error, why):
                scale.using(**settings)(x, x)
        with self.assertRaisesRegex(fsc.ArgumentError, "'n' of kernel scale is an argument of each launch"):
            scale.using(n=3)
        with self.assertRaisesRegex(fsc.ArgumentError, "'tpu' is no device"):
            scale.using(device="tpu")

    def test_checked_launches(self):
        for device in DEVICES:
            beyond = fsc.loads(BEYOND, file="beyond.dsl", device=device, check=True).beyond
            beyond(np.zeros(64, np.float32))
            buffer = np.zeros(128, np.float32)
            with self.assertRaisesRegex(fsc.CheckError, r"beyond.dsl:5:5: .*beyond the end of y") as caught:
                beyond(buffer[:60])
            self.assertEqual(caught.exception.status, "FSC_ERROR_CHECK")
            self.assertFalse(buffer[60:].any(), "what is beyond the array is not written")


class Names(unittest.TestCase):
    def test_signature(self):
        softmax = fsc.load(SOFTMAX).softmax
        want = ("softmax(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32, "
                "n_rows: i32, "
                "n_cols: i32, BLOCK: constexpr = next_power_of_2(n_cols), T: dtype = fp32)")
        self.assertEqual(softmax.signature, want)
        self.assertEqual(repr(softmax), f"<fsc kernel {want}>")
        self.assertTrue(inspect.getdoc(softmax).startswith(want))
        self.assertEqual(softmax.__name__, "softmax")
        self.assertEqual(softmax.writes(), {"y"})
        self.assertIn("f: fp32 = 0.5", fsc.loads(SCALE).scale.signature)

    def test_sources(self):
        both = fsc.loads(SCALE + COPY, file="both.dsl")
        self.assertEqual(both.kernels, ["scale", "copy"])
        self.assertEqual(repr(both), "<fsc source both.dsl: scale, copy>")
        self.assertIs(both.scale, both["scale"])
        self.assertIn("copy", dir(both))
        with self.assertRaisesRegex(AttributeError, "both.dsl has no kernel 'paste'; it has scale, copy"):
            both.paste
        with self.assertRaisesRegex(KeyError, "both.dsl has no kernel 'paste'; it has scale, copy"):
            both["paste"]
        with self.assertRaises(FileNotFoundError):
            fsc.load("nowhere.dsl")
        with self.assertRaisesRegex(fsc.SourceError, r"broken.dsl:1:6: error: .*\[E\d{4}\]"):
            fsc.loads("def f(:", file="broken.dsl")
        wrong = fsc.loads(SCALE.replace("* f)", "* g)"), file="wrong.dsl").scale
        with self.assertRaisesRegex(fsc.SourceError, r"wrong.dsl:5:\d+: error: unknown name 'g'"):
            wrong(np.zeros(3, np.float32), np.zeros(3, np.float32))


    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(os.fsencode(folder), b"sca\xffle.dsl")  # of no UTF-8
            with open(path, "wb") as file:
                file.write(SCALE.encode())
            for name in (path, os.fsdecode(path), pathlib.Path(os.fsdecode(path))):
                x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
                source = fsc.load(name)
                source.scale(y, x)
                self.assertEqual((y.tolist(), source.file), ([0.5] * 4, os.fsdecode(path)))


class Mistakes(unittest.TestCase):
    def refused(self, why, *args, **named):
        with self.assertRaisesRegex(fsc.ArgumentError, why) as caught:
            self.kernel(*args, **named)
        self.assertIsInstance(caught.exception, ValueError)

    def test_arguments(self):
        self.kernel = fsc.load(SOFTMAX).softmax
        x, y = np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32)
        self.refused("n_rows is 4 by the shape of y, and 3 by the shape of x", y, x[:3])
        self.refused("n_cols is 7 by n_cols=7, and 8 by the shape of y", y, x, n_cols=7)
        self.refused("x has 2 dimensions by its contract, and the array has 1", y, x[0])
        self.refused("dimension 1 of x has a stride of 2, and its contract wants 1: pass a contiguous copy", y[:, :4],
                     x[:, ::2])
        self.refused("argument x is missing", y)
        self.refused("argument y is missing", x=x)
        self.refused("takes 6 arguments by position, not 7: softmax\\(y: ", y, x, 8, 8, 4, 8, 9)
        self.refused("argument x is given twice, by position and by name", y, x, x=x)
        self.refused("has no parameter 'rows', and there is no such option; its parameters are y, x, y_stride", y, x,
                     rows=4)
        self.refused("argument x points to fp32, and the kernel is compiled for fp16", y.astype(np.float16), x)
        self.refused("argument x is None", y, None)
        self.refused("argument x is of type list", y, [1, 2])
        self.refused("argument y is a pointer, not a number", 3, x)
        self.refused("n_rows is 2.5 by n_rows=2.5, and 4 by the shape of y", y, x, n_rows=2.5)
        self.refused("n_rows is a number, not a pointer", y, x, n_rows=x)
        self.refused("argument x has elements of type complex64", y, x.astype(np.complex64))
        self.refused("argument x has elements of type >f4", y, x.astype(">f4"))
        self.refused("argument x has elements of type >f4", y, OnlyInterface(x.astype(">f4")))
        self.refused("argument x has 9 dimensions, and 8 is the most", y, x.reshape(4, 8, 1, 1, 1, 1, 1, 1, 1))
        self.refused("no argument is an array, so nothing says where to run", 1, 2, 3)
        self.refused("does not hold", y, x, BLOCK=4)
        self.assertFalse(y.any(), "nothing ran")

        self.kernel = fsc.loads(NO_RULE).mark
        self.refused("argument first is 2.5, and the kernel takes an integer", np.zeros(4, np.int32), 2.5, 0, grid=4)

    def test_memory(self):
        self.kernel = fsc.loads(SCALE).scale
        x = np.ones(8, np.float32)
        fixed = x.copy()
        fixed.flags.writeable = False
        self.refused("argument y is read-only, and the kernel writes it", fixed, x)
        self.refused("argument y is read-only, and the kernel writes it", OnlyInterface(fixed), x)
        y = np.zeros(8, np.float32)
        self.kernel(y, fixed)
        self.assertTrue((y == 0.5).all())
        self.refused("argument x gives no DLPack capsule", y, OnlyDlpack(fixed))
        masked = np.ma.array(x, mask=x > 2)
        self.refused("argument x is a masked array, and kernels do not see its mask: pass its .data", y, masked)
        self.kernel(y, masked.data)
        odd = np.zeros(33, np.uint8)[1:].view(np.float32)
        self.refused("argument x is at 0x.*, between two elements of fp32", y, odd)
        pairs = np.zeros(8, [("a", np.float32), ("b", np.int16)])
        self.refused("argument x has strides \\(6,\\), which are no multiples of an element's 4 bytes", y, pairs["a"])
        self.refused("its arrays are in GPU memory and in host memory|in host memory and in GPU memory", y,
                     fsc.Array(0x10000, "fp32", (8,), device="cuda"))
        with self.assertRaisesRegex(fsc.ArgumentError, "'tpu' is no device of memory"):
            fsc.Array(0, "fp32", (8,), device="tpu")
        with self.assertRaisesRegex(fsc.ArgumentError,
                                    "its arrays are in host memory, and it is to run on device cuda"):
            self.kernel.using(device="cuda")(y, x)

    def test_streams(self):
        scale = fsc.loads(SCALE).scale
        x = np.ones(8, np.float32)
        with self.assertRaisesRegex(fsc.ArgumentError, "'main' is no stream"):
            scale(x, x, stream="main")

    def test_nothing_is_left_behind(self):
        """A call that failed does not change the next one."""
        scale = fsc.loads(SCALE).scale
        x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
        for bad in [(y, None), (None, x), (y, x[:4]), (y, x, 8, "f"), (y, x, 7, 3.0)]:
            with self.assertRaises(fsc.ArgumentError):
                scale(*bad)
            y[:] = 0
            scale(y, x)
            self.assertTrue((y == 0.5).all())
        scale(y, x, 8, 3.0)
        scale(y, x)
        self.assertTrue((y == 0.5).all())
        softmax, x, y = fsc.load(SOFTMAX).softmax, np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32)
        for bad in [(y, x, 99, "f"), (y, x, 8, 8, 4, None), (y, x, 99)]:
            softmax(y, x)
            with self.assertRaises(fsc.ArgumentError):
                softmax(*bad)
            softmax(y, x)


if __name__ == "__main__":
    unittest.main()
