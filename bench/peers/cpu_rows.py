"""cpu_rows.py - the kernels of ONNX Runtime and of NumPy on the CPU, and memory moved there by all cores (moves.c).

In: a case on the CPU. Out: launch(i) → the outputs, main one first, or None where they lie in the case's own memory.
ONNX Runtime gets one node a kernel, all cores that this process may use, and its inputs and outputs where they lie.
moves.c is compiled once, by the C compiler.
"""
import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile

import numpy as np

from cases import EPS
from machine import NotFor, Skip

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


@functools.lru_cache(maxsize=None)
def moves():
    """The loaded object of moves.c, or in words why there is none."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "moves.c")
    compiler = shutil.which("cc")
    if not compiler:
        return "there is no C compiler named cc"
    with open(source, "rb") as f:
        key = hashlib.sha256(f.read() + repr((FLAGS, platform.node())).encode()).hexdigest()[:16]
    folder = os.path.join(tempfile.gettempdir(), f"fsc-bench-{os.getuid()}")
    made = os.path.join(folder, f"moves-{key}.so")
    if not os.path.exists(made):
        os.makedirs(folder, exist_ok=True)
        part = f"{made}.{os.getpid()}"
        done = subprocess.run([compiler, *FLAGS, "-o", part, source], capture_output=True, text=True, timeout=300)
        if done.returncode:
            return f"{compiler} does not compile moves.c: {done.stderr.strip()[:300]}"
        os.replace(part, made)
    lib = ctypes.CDLL(made)
    for mix in ("1_0", "1_1", "2_1", "2_2"):
        getattr(lib, f"move_{mix}").argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64, ctypes.c_void_p]
    return lib


def move(case):
    """A launch that moves what the kernel must move: as many matrices in and out, nothing else."""
    k, lib = case.kernel, moves()
    if isinstance(lib, str):
        raise Skip(lib)
    if not hasattr(lib, f"move_{k.reads}_{k.writes}"):
        raise Skip("moves.c has no such mix")
    start = getattr(lib, f"move_{k.reads}_{k.writes}")
    outs, ins = case.moved()
    never = case.machine.array((4,), "i32")

    def launch(i):
        b = case.sets[i]
        to, source = [b[name].address for name in outs], [b[name].address for name in ins]
        if start(*(to + [None, None])[:2], *(source + [None])[:2], b[ins[0]].bytes, never.address):
            raise OSError("the cores of this process cannot be asked for")

    return launch


PEERS = {"onnxruntime": onnx_peer, "numpy": numpy_peer}
