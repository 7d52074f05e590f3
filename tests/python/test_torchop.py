"""test_torchop.py - fsc.torch_op without torch: a stand-in for torch.library writes down what is registered, and
tensors are NumPy's. tests/python/test_torch.py does it with torch, where that and a GPU are.
"""
import sys
import types
import unittest

import fsc
import numpy as np
from kernels import ADD_IN_PLACE, NO_RULE, SCALE, SOFTMAX, softmax_of


class Registered:
    """What torch.library.custom_op gives: calls its implementation, or the fake one."""

    def __init__(self, name, function, mutates_args, schema):
        self.name, self.function, self.mutates_args, self.schema, self.fake = name, function, mutates_args, schema, None

    def register_fake(self, function):
        self.fake = function
        return function

    def __call__(self, *args, **named):
        return self.function(*args, **named)


def custom_op(name, function=None, /, *, mutates_args, device_types=None, schema=None):
    return Registered(name, function, mutates_args, schema)


class Operators(unittest.TestCase):
    def setUp(self):
        self.was = sys.modules.get("torch")
        sys.modules["torch"] = types.SimpleNamespace(Tensor=type("Tensor", (), {}),
                                                     library=types.SimpleNamespace(custom_op=custom_op),
                                                     empty_like=lambda t: np.full_like(t, np.nan))

    def tearDown(self):
        if self.was is None:
            del sys.modules["torch"]
        else:
            sys.modules["torch"] = self.was

    def test_arguments_that_change(self):
        op = fsc.torch_op(fsc.load(SOFTMAX).softmax)
        self.assertEqual(op.name, "fsc::softmax")
        self.assertEqual(op.schema, "(Tensor(a0!) y, Tensor x, *, SymInt? y_stride=None, SymInt? x_stride=None, "
                                    "SymInt? n_rows=None, "
                                    "SymInt? n_cols=None) -> ()")
        self.assertEqual(list(op.mutates_args), ["y"])
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        y = np.zeros_like(x)
        self.assertIsNone(op(y, x))
        np.testing.assert_allclose(y, softmax_of(x), rtol=2e-6)
        self.assertIsNone(op.fake(y, x))
        with self.assertRaisesRegex(fsc.ArgumentError, "n_rows is 7 by n_rows=7, and 3 by the shape of y"):
            op(y, x, n_rows=7)

    def test_results(self):
        op = fsc.torch_op(fsc.load(SOFTMAX).softmax, outputs={"y": "x"}, name="mine::softmax")
        self.assertEqual((op.name, list(op.mutates_args)), ("mine::softmax", []))
        self.assertTrue(op.schema.startswith("(Tensor x, *, SymInt? y_stride=None"), op.schema)
        self.assertTrue(op.schema.endswith(") -> Tensor"), op.schema)
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        np.testing.assert_allclose(op(x), softmax_of(x), rtol=2e-6)
        fake = op.fake(x)
        self.assertTrue(fake.shape == (3, 4) and np.isnan(fake).all(), "the fake implementation runs nothing")

    def test_results_by_function(self):
        op = fsc.torch_op(fsc.loads(SCALE).scale.using(T="fp16"),
                          outputs={"y": lambda x: np.zeros(x.shape, np.float16)})
        self.assertEqual(op.schema, "(Tensor x, *, SymInt? n=None, float? f=None) -> Tensor")
        x = np.ones(5, np.float16)
        self.assertEqual(op(x, f=3.0).tolist(), [3.0] * 5)

    def test_read_and_written(self):
        op = fsc.torch_op(fsc.loads(ADD_IN_PLACE).add_in_place)
        x, y = np.ones(3, np.float32), np.ones(3, np.float32)
        op(y, x)
        self.assertEqual(y.tolist(), [2.0] * 3)

    def test_grid(self):
        mark = fsc.loads(NO_RULE).mark
        op = fsc.torch_op(mark, grid=lambda y, first, value: (len(y),))
        self.assertEqual(op.schema, "(Tensor(a0!) y, SymInt first, SymInt value) -> ()")
        y = np.zeros(3, np.int32)
        op(y, 5, 0)
        self.assertEqual(y.tolist(), [5, 6, 7])

    def test_mistakes(self):
        softmax = fsc.load(SOFTMAX).softmax
        for outputs, why in [({"x": "y"}, "output 'x' is no pointer that it writes; it writes y"),
                             ({"z": "x"}, "output 'z' is no pointer"),
                             ({"y": "z"}, "output 'y' is to be like 'z', which is no input tensor"),
                             ({"y": "y"}, "like 'y', which is no input")]:
            with self.assertRaisesRegex(fsc.ArgumentError, why):
                fsc.torch_op(softmax, outputs=outputs)
        with self.assertRaisesRegex(fsc.ArgumentError, "the source says no type of y"):
            fsc.torch_op(fsc.loads("@kernel\ndef open(y, n: i32):\n    store(y, n)\n").open)
        sys.modules["torch"] = None
        with self.assertRaisesRegex(fsc.Error, "torch_op needs torch, which is not there"):
            fsc.torch_op(softmax)


if __name__ == "__main__":
    unittest.main()
