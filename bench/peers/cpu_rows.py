"""cpu_rows.py - the kernels of ONNX Runtime and of NumPy on the CPU, and memory moved there by all cores (moves.c).

In: a case on the CPU. Out: launch(i) → the outputs, main one first, or None where they lie in the case's own memory.
ONNX Runtime gets one node a kernel, all cores that this process may use, and its inputs and outputs where they lie.
moves.c is compiled once, by the C compiler.
"""
import ctypes
import functools
import os
import platform
import shutil

import numpy as np

from cases import EPS
from machine import NotFor, Skip
from peers import objects

# Kernel → operator, its attributes, the inputs it takes. What is left out has no operator of its own.
NODES = {
    "softmax": ("Softmax", {"axis": 1}, ("x",)),
    "softmax_columns": ("Softmax", {"axis": 0}, ("x",)),
    "log_softmax": ("LogSoftmax", {"axis": 1}, ("x",)),
    "layernorm": ("LayerNormalization", {"axis": 1, "epsilon": EPS}, ("x", "weight", "bias")),
    "rmsnorm": ("RMSNormalization", {"axis": 1, "epsilon": EPS}, ("x", "weight")),
    "gelu": ("Gelu", {}, ("x",)),
}
OPSET, IR_VERSION = 23, 11  # RMSNormalization is of opset 23
TYPES = {"fp32": 1, "fp16": 10, "bf16": 16}  # of onnx.TensorProto


def cores():
    return len(os.sched_getaffinity(0))


def session(case, ort, onnx):
    operator, attributes, inputs = NODES[case.kernel.name]
    kind, helper = TYPES[case.dtype], onnx.helper
    info = {name: helper.make_tensor_value_info(name, kind, case.sets[0][name].shape) for name in (*inputs, "y")}
    graph = helper.make_graph([helper.make_node(operator, list(inputs), ["y"], **attributes)], operator,
                              [info[name] for name in inputs], [info["y"]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = cores(), 4
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def onnx_peer(case):
    if case.machine.is_gpu:
        raise NotFor("of the CPU")
    if case.kernel.name not in NODES:
        raise NotFor("no operator is this kernel")
    try:
        import onnx
        import onnxruntime as ort
    except ImportError as why:
        raise Skip(str(why)) from why
    made, bindings = session(case, ort, onnx), {}
    run_options = ort.RunOptions()

    def bind(i):
        binding = made.io_binding()
        for name in NODES[case.kernel.name][2]:
            a = case.sets[i][name]
            binding.bind_input(name, "cpu", 0, TYPES[case.dtype], a.shape, a.address)
        y = case.sets[i]["y"]
        binding.bind_output("y", "cpu", 0, TYPES[case.dtype], y.shape, y.address)
        return binding

    def launch(i):
        if i not in bindings:
            bindings[i] = bind(i)
        made.run_with_iobinding(bindings[i], run_options)
        return [case.sets[i]["y"]]

    return launch


def numpy_peer(case):
    if case.machine.is_gpu:
        raise NotFor("of the CPU")
    if case.dtype != "fp32" or case.kernel.name == "gelu":
        raise NotFor("NumPy has no bf16 and no erf, and its fp16 is for storage")

    def launch(i):
        def view(a):
            numbers = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * a.bytes).from_address(a.address))
            return numbers.view(np.int32 if a.dtype == "i32" else np.float32).reshape(a.shape)

        sources = [view(case.sets[i][name]) for name in case.kernel.inputs]
        for name, result in zip(case.kernel.outputs, case.kernel.formula(np, *sources)):
            view(case.sets[i][name])[...] = result
        return None

    return launch


# ---- Memory moved ----------------------------------------------------------------------------------------------------

FLAGS = ("-O3", "-march=native", "-pthread", "-shared", "-fPIC")
MIXES = ("1_0", "1_1", "2_1", "2_2")  # matrices read, written


def find_cc():
    compiler = shutil.which("cc")
    if not compiler:
        raise objects.NoCompiler("there is no C compiler named cc")
    return compiler


@functools.lru_cache(maxsize=None)
def moves():
    """The loaded object of moves.c, or the NoCompiler that says why there is none."""
    try:
        lib = ctypes.CDLL(objects.build("moves.c", find_cc, FLAGS, platform.node(), objects.temporary()))
    except objects.NoCompiler as why:
        return why
    for mix in MIXES:
        getattr(lib, f"move_{mix}").argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64, ctypes.c_void_p]
    return lib


def move(case):
    lib = moves()
    if isinstance(lib, objects.NoCompiler):
        raise Skip(str(lib))
    if f"{case.kernel.reads}_{case.kernel.writes}" not in MIXES:
        raise Skip("moves.c has no such mix")
    return objects.move(case, lib)


PEERS = {"onnxruntime": onnx_peer, "numpy": numpy_peer}
