"""test_wrappers.py - what host code asks of fsc.triton beside launches: compiled kernels, descriptors, hooks, types,
what the driver answers, settings, stubs for editors.
"""
import ast
import os
import sys
import threading
import unittest

import numpy as np

import fsc
import fsc.triton

fsc.triton.install()

import triton  # noqa: E402 - fsc's
import triton.language as tl  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

RNG = np.random.default_rng(0)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


class Kernels(unittest.TestCase):
    def test_padding_of_a_descriptor(self):
        x = floats(3, 6)
        for padding in ("zero", "nan"):
            out = np.zeros((4, 8), np.float32)

            @triton.jit
            def whole(out, x, B: tl.constexpr):
                i = tl.arange(0, 4)[:, None] * B + tl.arange(0, B)
                tl.store(out + i, x.load([0, 0]))

            whole[(1,)](out, TensorDescriptor(x, x.shape, [6, 1], [4, 8], padding=padding), 8)
            want = np.full((4, 8), 0 if padding == "zero" else np.nan, np.float32)
            want[:3, :6] = x
            np.testing.assert_array_equal(out, want)

    def test_compiled_kernel(self):
        x = floats(64)
        ran = add[(1,)](x, x, np.empty_like(x), 64, BLOCK=64, num_warps=4)
        for constants in ((), (64,)):
            out = np.zeros_like(x)
            ran[(1,)](x, x, out, 30, *constants)
            np.testing.assert_array_equal(out, np.where(np.arange(64) < 30, x + x, 0))
        self.assertGreaterEqual(ran.n_regs, 0)
        self.assertGreaterEqual(ran.n_max_threads, 0)
        self.assertEqual((ran.metadata.num_ctas, ran.metadata.shared), (1, 0))
        self.assertRegex(add.cache_key, r"^[0-9a-f]{64}$")
        self.assertIs(add.__globals__, globals())

    def test_pre_run_hook(self):
        seen, x = [], floats(8)
        kernel = JITFunction(add.fn)
        kernel.add_pre_run_hook(lambda *args, **named: seen.append((args[3], named["BLOCK"])))
        kernel[(1,)](x, x, x, 8, BLOCK=8)
        self.assertEqual(seen, [(8, 8)])

    def test_threads(self):
        kernels = [JITFunction(add.fn) for _ in range(12)]
        x, failed = floats(8), []

        def launch(kernel):
            out = np.zeros(8, np.float32)
            try:
                kernel[(1,)](x, x, out, 8, BLOCK=8)
                np.testing.assert_array_equal(out, x + x)
            except Exception as error:  # pylint: disable=broad-except
                failed.append(error)

        threads = [threading.Thread(target=launch, args=(k,)) for k in kernels + kernels]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failed, [])

    def test_template(self):
        x, out = floats(8), np.zeros(8, np.float32)
        kernel = JITFunction(add.fn)
        kernel._unsafe_update_src(kernel.src.replace("tl.load(x + i, mask=i < n) +", "2 *"))
        kernel[(1,)](x, x, out, 8, BLOCK=8)
        np.testing.assert_array_equal(out, 2 * x)

    def test_seen_as_another_type(self):
        bits, out = np.array([0x3F80, 0x4000], np.uint16), np.zeros(2, np.float32)
        wrapped = triton.reinterpret(bits, tl.bfloat16)
        self.assertEqual((wrapped.dtype, wrapped.base is bits, wrapped.shape), (tl.bfloat16, True, (2,)))
        add[(1,)](wrapped, wrapped, out, 2, BLOCK=2)
        self.assertEqual(out.tolist(), [2, 4])
        self.assertIs(triton.reinterpret(bits, tl.uint16), bits)

    def test_address_with_a_type(self):
        class Pointer:
            def __init__(self, array):
                self.array, self.dtype = array, "float32"

            def data_ptr(self):
                return self.array.ctypes.data

        x, out = floats(8), np.zeros(8, np.float32)
        for last in (out, Pointer(out)):
            out[:] = 0
            add[(1,)](Pointer(x), Pointer(x), last, 8, BLOCK=8)
            np.testing.assert_array_equal(out, x + x)

    def test_types(self):
        self.assertEqual([t.name for t in (tl.int1, tl.uint8, tl.int32, tl.bfloat16, tl.float32)],
                         ["int1", "uint8", "int32", "bf16", "fp32"])
        self.assertEqual([tl.dtype(n) for n in ("i32", "int32", "fp32", "float32")], [tl.int32] * 2 + [tl.float32] * 2)
        self.assertEqual((tl.float16.fp_mantissa_width, tl.str_to_ty("*fp16").element_ty), (10, tl.float16))
        self.assertIn("uint16", tl.dtype.UINT_TYPES)
        for t in (tl.float16, tl.float32, tl.float64):
            info = np.finfo(f"float{t.primitive_bitwidth}")
            self.assertEqual((t.fp_mantissa_width, t.exponent_bias), (info.nmant, info.maxexp - 1))


class Host(unittest.TestCase):
    """What wrappers ask of the package beside launches."""

    def test_driver(self):
        active = triton.runtime.driver.active
        properties = active.utils.get_device_properties(active.get_current_device())
        self.assertGreater(properties["multiprocessor_count"], 0)
        self.assertGreater(properties["max_shared_mem"], 0)
        self.assertIn(active.get_current_target().backend, ("cpu", "cuda"))
        self.assertIsInstance(active.get_current_stream(0), int)

    def test_errors(self):
        @triton.jit
        def wrong(x):
            tl.store(x, nothing)  # noqa: F821

        with self.assertRaisesRegex(triton.CompilationError, "unknown name 'nothing'"):
            wrong[(1,)](floats(1))

    def test_knobs(self):
        with triton.knobs.runtime.scope():
            triton.knobs.runtime.debug = True
            triton.knobs.runtime.override_arch = "sm_90"
        self.assertEqual((triton.knobs.runtime.debug, triton.knobs.runtime.override_arch), (False, None))

    def test_stubs(self):
        folder = os.path.dirname(fsc.__file__)
        sys.path.insert(0, os.path.dirname(folder))
        import stubs
        texts = {fsc.triton.language: stubs.text()}
        for module in (fsc, fsc.triton):
            with open(module.__file__ + "i", encoding="utf-8") as file:
                texts[module] = file.read()
        for module, text in texts.items():
            said = {name.split(".")[0] for node in ast.parse(text).body for name in
                    ([node.name] if hasattr(node, "name") else [node.target.id] if hasattr(node, "target") else
                     [a.asname or a.name for a in getattr(node, "names", [])])}
            public = set(fsc.__all__) if module is fsc else {
                name for name, value in vars(module).items() if not name.startswith("_") and
                not isinstance(value, (type(sys), list, dict)) and getattr(value, "__module__", "fsc")[:3] == "fsc"}
            inner = {"Builtin", "block_type", "constexpr_type", "target_info", "bitonic_merge", "pi32_t", "tuple",
                     "register"}
            self.assertEqual(public - said - inner, set(), module.__name__)


if __name__ == "__main__":
    unittest.main()
