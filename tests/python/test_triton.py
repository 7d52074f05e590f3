"""test_triton.py - fsc.triton on NumPy's arrays: names across files, arguments as Triton takes them, autotuning,
`import triton`. float64 is the judge of numbers.
"""
import collections
import contextlib
import io
import linecache
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import fsc
import fsc.triton

fsc.triton.install()

import triton  # noqa: E402 - fsc's
import triton.language as tl  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402
from written import kernels, parts  # noqa: E402
from written.limits import Mode  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RNG = np.random.default_rng(0)
Row = collections.namedtuple("Row", ["at", "scale"], defaults=[3])
LENGTH = 8


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def floats(*shape, dtype=np.float32):
    return RNG.normal(size=shape).astype(dtype)


class Launches(unittest.TestCase):
    def test_add(self):
        for dtype in (np.float32, np.float64, np.float16, np.int32):
            x, y = (10 * floats(1000)).astype(dtype), floats(1000).astype(dtype)
            out = np.empty_like(x)
            add[(triton.cdiv(1000, 128),)](x, y, out, 1000, BLOCK=128)
            np.testing.assert_array_equal(out, x + y)
            out[:] = 0
            add[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](x, y, out, 1000, 256, num_warps=8)
            np.testing.assert_array_equal(out, x + y)

    def test_one_variant(self):
        x = floats(64)
        first = add[(1,)](x, x, np.empty_like(x), 64, BLOCK=64)
        self.assertIs(add[(1,)](x, x, np.empty_like(x), 33, 64), first)
        self.assertIsNot(add[(1,)](x, x, np.empty_like(x), 33, 128), first)

    def test_wrong_calls(self):
        x = floats(64)
        with self.assertRaisesRegex(TypeError, r"add\(\) missing 1 required positional argument: 'BLOCK'"):
            add[(1,)](x, x, x, 64)
        with self.assertRaisesRegex(KeyError, "add has no parameter 'BLOCKS'"):
            add[(1,)](x, x, x, 64, BLOCK=64, BLOCKS=3)
        with self.assertRaisesRegex(RuntimeError, r"launch it, add\[grid\]"):
            add(x, x, x, 64, 64)
        with self.assertRaisesRegex(fsc.ArgumentError, "argument x is of type object"):
            add[(1,)](object(), x, x, 64, 64)

    def test_other_arguments(self):
        x, bias = floats(10), floats(10)
        out = np.empty_like(x)
        kernels.optional[(1,)](out, x, None, 10, 2, 16)
        np.testing.assert_allclose(out, 2 * x, rtol=1e-6)
        kernels.optional[(1,)](out, x, bias, 10, 0.5, 16, "minus")
        np.testing.assert_allclose(out, -(0.5 * x + bias), rtol=1e-5, atol=1e-6)
        kernels.optional[(1,)](out, x, None, 10, True, B=16, TWICE=True, launch_pdl=True, maxnreg=None)
        np.testing.assert_allclose(out, 2 * x, rtol=1e-6)

    def test_functions_as_constants(self):
        x = floats(10)
        out = np.empty_like(x)
        kernels.apply[(1,)](out, x, parts.double, 10, B=16)
        np.testing.assert_array_equal(out, x + x)
        kernels.apply[(1,)](out, x, tl.abs, 10, B=16)
        np.testing.assert_array_equal(out, np.abs(x))

    def test_named_tuples(self):
        out, x = np.zeros(8, np.int64), np.arange(8, dtype=np.int64)

        @triton.jit
        def moved(row, by):
            return Row(row.at + by, row.scale * 2)

        @triton.jit
        def sums(row, pair, out, B: tl.constexpr):
            i = tl.arange(0, B)
            row = moved(row, 1)
            parts = tl.tuple((pair.scale, row.scale))
            tl.store(out + i, tl.load(row.at + i, mask=i < B - 1) * parts[1] + parts[0])

        sums[(1,)](Row(x), Row(None, 5), out, 8)
        self.assertEqual(out.tolist(), [11, 17, 23, 29, 35, 41, 47, 5])
        sums[(1,)](Row(x, 10), Row(None, 5), out, 8)
        self.assertEqual(out[0], 25)

    def test_tuples(self):
        x, y, out = floats(10), floats(5, dtype=np.float64), np.zeros(16)
        kernels.of_tuple[(1,)](out, (x, y), (10, 5), 16)
        want = np.zeros(16)
        want[:10] += x
        want[:5] += y
        np.testing.assert_array_equal(out, want)

    def test_descriptor(self):
        x, out = floats(4, 16), np.zeros((2, 8), np.float32)
        kernels.of_descriptor[(1,)](out, TensorDescriptor.from_tensor(x, [2, 8]), 8)
        np.testing.assert_array_equal(out, x[:2, 2:10])

    def test_code(self):
        x = floats(64)
        ran = add[(1,)](x, x, np.empty_like(x), 64, BLOCK=64, num_warps=2)
        self.assertIn(".visible .entry add(", ran.asm["ptx"])
        self.assertIn(".target sm_80", ran.asm["ptx"])
        self.assertEqual(set(ran.asm), {"ttir", "ttgir", "llir", "ptx", "cubin", "asm"})
        self.assertNotIn(".visible", ran.asm["asm"])
        self.assertEqual((ran.n_spills, ran.metadata.name, ran.name), (0, "add", "add"))
        out = np.empty_like(x)
        ran[(1,)](x, x, out, 64, 64)
        np.testing.assert_array_equal(out, x + x)
        made = add.warmup(tl.float16, tl.float16, tl.float32, 16, BLOCK=32, grid=(1,))
        self.assertRegex(made.asm["ptx"], r"ld\.global[.\w]*\.[bv]")
        with self.assertRaises(KeyError):
            made.asm["spirv"]
        kernel = fsc.load(os.path.join(ROOT, "dsl_examples", "softmax.dsl")).softmax
        code = kernel.inspect(floats(4, 64), floats(4, 64), arch="sm_90")
        self.assertIn(b".target sm_90", code)
        with self.assertRaisesRegex(fsc.ArgumentError, "there is no 'wasm' to emit"):
            kernel.inspect(floats(4, 64), floats(4, 64), emit="wasm")

    def test_grid_of_nothing(self):
        x = floats(4)
        out = np.zeros_like(x)
        add[(0,)](x, x, out, 4, 16)
        self.assertFalse(out.any())


class Names(unittest.TestCase):
    def test_other_files(self):
        x = 1 + abs(floats(20))
        for mode in Mode:
            out = np.empty_like(x)
            kernels.mixed[(2,)](out, x, 20, 16, MODE=mode)
            v = x.astype(np.float64)
            w = v * 3 + v * 7 * 5 + 0.5 + 16 + 2 * v + 16 + 8 * math.pi
            np.testing.assert_allclose(out, np.log1p(np.abs(v - w if mode == Mode.SUB else w)), rtol=1e-5)

    def test_closure(self):
        def make(factor, fn):
            @triton.jit
            def inner(out, B: tl.constexpr):
                tl.store(out + tl.arange(0, B), fn(tl.arange(0, B) * factor))

            return inner

        for factor in (2, 3):
            out = np.zeros(8, np.int32)
            make(factor, parts.double)[(1,)](out, 8)
            np.testing.assert_array_equal(out, 2 * factor * np.arange(8))

    def test_global_constexpr_and_default(self):
        out = np.zeros(8, np.int32)

        @triton.jit
        def fill(out, B: tl.constexpr = LENGTH, V: tl.constexpr = (1, 2)):
            tl.store(out + tl.arange(0, B), V[1] + LENGTH)

        fill[(1,)](out)
        self.assertTrue((out == 10).all())

    def test_private_names(self):
        from triton.language.standard import _argmax_combine_tie_break_left as combine, _log2

        @triton.jit
        def highest(out, x, B: tl.constexpr):
            i = tl.arange(0, B)
            value, index = tl.reduce((tl.load(x + i), i), 0, combine)
            steps: tl.constexpr = _log2(B)
            for step in tl.static_range(steps):
                index = index * 10
            tl.store(out, index + steps)

        out, x = np.zeros(1, np.int32), np.array([1, 7, 3, 7, 0, 0, 0, 0], np.float32)
        highest[(1,)](out, x, 8)
        self.assertEqual((out[0], [_log2(1 << i) for i in range(25)]), (1003, list(range(25))))

    def test_private_combines(self):
        from triton.language.standard import _argmax_combine_tie_break_left as greatest
        from triton.language.standard import _argmin_combine_tie_break_fast as any_least
        from triton.language.standard import _argmin_combine_tie_break_left as least

        @triton.jit
        def ends(out, x, B: tl.constexpr):
            i = tl.arange(0, B)
            v = tl.load(x + i)
            high, high_at = tl.reduce((v, i), 0, greatest)
            low, low_at = tl.reduce((v, i), 0, least)
            again, _ = tl.reduce((v, i), 0, any_least)
            tl.store(out, high_at)
            tl.store(out + 1, low_at)
            tl.store(out + 2, (high * 100 + low * 10 + again).to(tl.int32))

        x, out = np.float32(np.random.default_rng(3).integers(-4, 5, 256)), np.zeros(3, np.int32)
        ends[(1,)](out, x, 256)
        self.assertEqual(list(out), [x.argmax(), x.argmin(), x.max() * 100 + x.min() * 11])

    def test_constexpr_functions(self):
        def plain(x):
            return x.value if isinstance(x, tl.constexpr) else x

        @tl.constexpr
        def unsigned_of(T):
            T = plain(T)
            if T.is_int():
                return tl.core.get_int_dtype(T.int_bitwidth, False)
            else:
                raise ValueError(f"{T} is no integer")

        @triton.jit
        def widest(out, T: tl.constexpr):
            tl.store(out, tl.full((), -1, tl.int64).to(unsigned_of(T)).to(tl.int64))

        out = np.zeros(1, np.int64)
        widest[(1,)](out, tl.int16)
        self.assertEqual(out[0], 65535)
        with self.assertRaisesRegex(fsc.SourceError, "this raise is reached: f(p|loat)32 is no integer"):
            widest[(1,)](out, tl.float32)

        @triton.jit
        def nothing():
            pass

        nothing[(1,)]()

    def test_notebook(self):
        """A cell: its text is in linecache alone."""
        text = "@triton.jit\ndef cell(out):\n    tl.store(out, K + 1)\n"
        name = "<ipython-input-7-abc>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        names = {"triton": triton, "tl": tl, "K": 4}
        exec(compile(text, name, "exec"), names)
        out = np.zeros(1, np.int32)
        names["cell"][(1,)](out)
        self.assertEqual(out[0], 5)
        text = "@triton.jit\ndef lost(out):\n    tl.store(out, 1)\n"
        exec(compile(text, "<string>", "exec"), names)
        with self.assertRaisesRegex(OSError, "the source of lost is not to be found"):
            names["lost"][(1,)](out)

    def test_places_of_errors(self):
        out = np.zeros(4, np.float32)
        with open(kernels.__file__, encoding="utf-8") as file:
            line = file.read().split("v @ v")[0].count("\n") + 1
        with self.assertRaises(fsc.SourceError) as caught:
            kernels.broken[(1,)](out, out, 4)
        self.assertIn(f"written/kernels.py:{line}:", str(caught.exception))
        with open(parts.__file__, encoding="utf-8") as file:
            line = file.read().split("x % tl")[0].count("\n") + 1
        with self.assertRaises(fsc.SourceError) as caught:
            kernels.broken_elsewhere[(1,)](out, 4)
        self.assertIn(f"written/parts.py:{line}:", str(caught.exception))

    def test_names_of_the_language(self):
        """The stand-in has what docs/reference/triton.md has a row for."""
        with open(os.path.join(ROOT, "docs", "reference", "triton.md"), encoding="utf-8") as file:
            page = file.read()
        tables, device = page.split("## libdevice")
        for name in re.findall(r"^\| `(\w+)` \|", tables.split("## Members")[0], re.M):
            self.assertTrue(hasattr(tl, name), name)
        for names in re.findall(r"^\| ((?:`\w+` ?)+)\|.*libdevice", device, re.M):
            for name in re.findall(r"\w+", names):
                self.assertTrue(hasattr(tl.extra.libdevice, name), name)
        self.assertFalse(hasattr(tl, "no_such_name"))


class Tuning(unittest.TestCase):
    def tuned(self, calls, **more):
        def times(launch, quantiles):
            launch()
            calls.append(1)
            return [float(10 - len(calls))] * 3  # the last is the fastest

        configs = [triton.Config({"BLOCK": b}, num_warps=1) for b in (8, 16, 32, 64)]

        @triton.autotune(configs=configs, key=["n"], do_bench=times, **more)
        @triton.jit
        def accumulate(out, x, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.atomic_add(out + i, tl.load(x + i, mask=i < n), mask=i < n)

        return accumulate

    def test_key(self):
        calls, x, out = [], floats(100), np.zeros(100, np.float32)
        kernel = self.tuned(calls, reset_to_zero=["out"], cache_results=False)
        grid = lambda meta: (triton.cdiv(100, meta["BLOCK"]),)  # noqa: E731
        kernel[grid](out, x, 100)
        self.assertEqual(len(calls), 4)
        self.assertEqual(str(kernel.best_config), "BLOCK: 64, num_warps: 1, num_ctas: 1, num_stages: 3")
        np.testing.assert_array_equal(out, x)
        kernel[grid](out, x, 100)
        self.assertEqual(len(calls), 4)
        np.testing.assert_array_equal(out, x + x)
        kernel[grid](out, x, 99)
        self.assertEqual(len(calls), 8)

    def test_restore_and_hooks(self):
        calls, seen, x, out = [], [], floats(100), np.ones(100, np.float32)
        kernel = self.tuned(calls, restore_value=["out"], cache_results=False)
        kernel.configs[0].pre_hook = lambda nargs: seen.append(nargs["n"])
        kernel[(4,)](out, x, 100)
        np.testing.assert_array_equal(out, (1 + x).astype(np.float32))
        self.assertEqual(seen, [100])

    def test_prune(self):
        calls, x, out = [], floats(64), np.zeros(64, np.float32)
        early = lambda configs, nargs, **_: [c for c in configs if 2 * c.kwargs["BLOCK"] >= nargs["n"]]  # noqa: E731
        self.tuned(calls, prune_configs_by={"early_config_prune": early}, cache_results=False)[(1,)](out, x, 64)
        self.assertEqual(len(calls), 2)
        model = {"perf_model": lambda BLOCK, **_: BLOCK, "top_k": 2}
        kernel = self.tuned(calls, prune_configs_by=model, cache_results=False)
        kernel[(8,)](out, x, 64)
        self.assertEqual((len(calls), kernel.best_config.kwargs["BLOCK"]), (4, 16))
        kernel = self.tuned(calls)
        kernel.configs = [triton.Config({"BLOCK": 64}, num_warps=w) for w in (1, 4)]  # the same code on the CPU
        kernel[(1,)](out, x, 64)
        self.assertEqual((len(calls), kernel.best_config.num_warps), (4, 1))

    def test_kept_on_disk(self):
        x, out, was = floats(64), np.zeros(64, np.float32), os.environ.get("FSC_CACHE_DIR")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["FSC_CACHE_DIR"] = folder
            try:
                for expected in (4, 0):
                    calls = []
                    kernel = self.tuned(calls)
                    kernel[(2,)](out, x, 64)
                    self.assertEqual(len(calls), expected)
                    self.assertEqual(kernel.best_config.kwargs["BLOCK"], 64)
                name, = os.listdir(os.path.join(folder, "tune"))
                with open(os.path.join(folder, "tune", name), encoding="utf-8") as file:
                    head, section, row, end = file.read().split("\n")
                self.assertEqual((head, section, end), ("fsc-tune 1", f"kernel accumulate on cpu {os.cpu_count()}", ""))
                self.assertEqual(row, "n=64: BLOCK=64 num_warps=1 num_stages=3  # 6.0000 ms, the fastest of 4")
                self.assertTrue(kernel.chosen_by.endswith(name + ":3"))
            finally:
                del os.environ["FSC_CACHE_DIR"]
                if was is not None:
                    os.environ["FSC_CACHE_DIR"] = was

    def test_file_beside_the_source(self):
        """What `fsc tune` wrote is taken without trials; FSC_TUNE_WRITE=1 adds to it; other launches leave it alone."""
        program = ("import numpy as np, fsc.triton as triton, fsc.triton.language as tl\n"
                   "@triton.autotune([triton.Config({'B': b}) for b in (16, 32)], key=['n'], cache_results=False,\n"
                   "                 do_bench=lambda launch, quantiles: launch() or [1, 1, 1])\n"
                   "@triton.jit\n"
                   "def one(out, n, B: tl.constexpr):\n"
                   "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                   "    tl.store(out + i, 1, mask=i < n)\n"
                   "for n in (60, 500):\n"
                   "    out = np.zeros(500, np.int32)\n"
                   "    one[lambda meta: (1,)](out, n)\n"
                   "    print(one.best_config.kwargs['B'], out.sum(), one.chosen_by.split('/')[-1])\n"
                   "out[:] = 0\n"
                   "one.fn[(1,)](out, 500, B=16)\n"
                   "print(out.sum())\n")
        with tempfile.TemporaryDirectory() as folder:
            path, rows = os.path.join(folder, "one.py"), os.path.join(folder, "one.tune")
            for name, text in ((path, program), (rows, "fsc-tune 1\nkernel other on cpu 2\nn=9: B=1\n")):
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)

            def said():
                env = {**os.environ, "FSC_TUNE_WRITE": "1", "FSC_CACHE_DIR": "off"}
                return subprocess.run([sys.executable, path], env=env, check=True, stdout=subprocess.PIPE,
                                      universal_newlines=True, timeout=60).stdout

            fastest = "16 32 the fastest of 2\n"  # the other trial wrote, too
            self.assertEqual(said(), fastest + "16 16 one.tune:5\n16\n")
            with open(rows, encoding="utf-8") as file:
                text = file.read()
            self.assertRegex(text, r"^fsc-tune 1\nkernel other on cpu 2\nn=9: B=1\nkernel one on cpu \d+\n"
                                   r"n=60: B=16 num_warps=4 num_stages=3  # 1.0000 ms, the fastest of 2\n$")
            with open(rows, "w", encoding="utf-8") as file:
                file.write(text + "n=600 : B=32 # by hand\n")
            self.assertEqual(said(), "16 16 one.tune:5\n32 32 one.tune:6\n16\n")

    def test_real_times(self):
        """do_bench as it is; a configuration that does not compile is left out."""
        @triton.autotune([triton.Config({"BLOCK": 48}), triton.Config({"BLOCK": 64})], key=[], warmup=1, rep=1)
        @triton.heuristics({"WHOLE": lambda args: args["n"] % args["BLOCK"] == 0})
        @triton.jit
        def copy(out, x, n, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(out + i, tl.load(x + i, mask=None if WHOLE else i < n), mask=None if WHOLE else i < n)

        for n in (64, 60):
            x, out = floats(64), np.zeros(64, np.float32)
            copy[(1,)](out, x, n)
            np.testing.assert_array_equal(out[:n], x[:n])
            self.assertFalse(out[n:].any())
        self.assertEqual(copy.best_config.kwargs["BLOCK"], 64)

    def test_perf_report(self):
        @triton.testing.perf_report(triton.testing.Benchmark(
            x_names=["n"], x_vals=[1, 2], line_arg="by", line_vals=["a", "b"], line_names=["A", "B"],
            plot_name="times", args={"more": 1}))
        def bench(n, by, more):
            return n + more if by == "a" else triton.testing.do_bench(lambda: None, 1, 1, return_mode="min")

        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
            bench.run(print_data=True, save_path=folder)
            with open(os.path.join(folder, "times.csv"), encoding="utf-8") as file:
                self.assertEqual(file.readline(), "n,A,B\n")
                self.assertTrue(file.readline().startswith("1,2,"))
        self.assertRegex(said.getvalue(), r"times:\n\s*n +A +B\n *1 +2 +\d")


class Installed(unittest.TestCase):
    def run_python(self, text):
        done = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, timeout=60)
        return done.returncode, done.stdout

    def test_same_modules(self):
        import triton.language.extra.cuda.libdevice as device
        import triton.runtime.driver  # noqa: F401
        self.assertIs(triton, fsc.triton)
        self.assertIs(tl, fsc.triton.language)
        self.assertIs(device.tanh, tl.extra.libdevice.tanh)
        self.assertIsInstance(add, JITFunction)
        self.assertEqual(triton.runtime.driver.active.get_current_target().backend, "cpu")
        with self.assertRaises(ImportError):
            from triton.runtime.jit import no_such_name  # noqa: F401

    def test_too_late(self):
        code, said = self.run_python("import sys, types; sys.modules['triton'] = types.ModuleType('triton')\n"
                                     "import fsc.triton; fsc.triton.install()")
        self.assertEqual(code, 1)
        self.assertIn("triton was imported before", said)

    def test_emulated(self):
        """install(device=…, check=…) is for every kernel: out of bounds is found."""
        code, said = self.run_python(f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
                                     "import fsc.triton, numpy as np; fsc.triton.install('emu', check=True)\n"
                                     "from written import kernels, parts\n"
                                     "x = np.arange(4, dtype=np.float32); y = np.zeros_like(x)\n"
                                     "kernels.apply[(1,)](y, x, parts.double, 4, B=16); print(y)\n"
                                     "kernels.apply[(1,)](y, x, parts.double, 5, B=16)")
        self.assertIn("[0. 2. 4. 6.]", said)
        self.assertEqual(code, 1)
        self.assertIn("CheckError", said)

    def test_version(self):
        self.assertRegex(fsc.version, re.escape(fsc.__version__))
        self.assertGreaterEqual(tuple(map(int, triton.__version__.split("."))), (3, 0, 0))


if __name__ == "__main__":
    unittest.main()
