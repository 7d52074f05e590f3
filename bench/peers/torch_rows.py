"""torch_rows.py - the kernels in torch: eager, scripted, as a naive chain, and compiled with static shapes.

In: a case on a machine that has torch. Out: launch(i) → the outputs, main one first.
"""
import functools
import importlib
import os

from cases import EPS
from machine import NotFor, Skip


# a pool of processes takes longer to start than one kernel to compile
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def eager(torch):
    """Kernel → function of the tensors by name."""
    f = torch.nn.functional

    def add_rmsnorm(b):
        h = b["x"] + b["residual"]
        return f.rms_norm(h, h.shape[1:], b["weight"], EPS), h

    return {
        "softmax": lambda b: (torch.softmax(b["x"], dim=1),),
        "softmax_columns": lambda b: (torch.softmax(b["x"], dim=0),),
        "log_softmax": lambda b: (torch.log_softmax(b["x"], dim=1),),
        "layernorm": lambda b: (f.layer_norm(b["x"], b["x"].shape[1:], b["weight"], b["bias"], EPS),),
        "rmsnorm": lambda b: (f.rms_norm(b["x"], b["x"].shape[1:], b["weight"], EPS),),
        "add_rmsnorm": add_rmsnorm,
        "softmax_backward": lambda b: (torch._softmax_backward_data(b["dy"], b["p"], 1, b["dy"].dtype),),
        "rmsnorm_backward": lambda b: torch.ops.aten._fused_rms_norm_backward(
            b["dy"], b["x"], b["x"].shape[1:], b["rstd"][:, None], b["weight"], [True, True]),
        "layernorm_backward": lambda b: torch.ops.aten.native_layer_norm_backward(
            b["dy"], b["x"], b["x"].shape[1:], b["mean"][:, None], b["rstd"][:, None], b["weight"], b["weight"],
            [True, True, True]),
        "gelu": lambda b: (f.gelu(b["x"]),),
        "swiglu": lambda b: (f.silu(b["gate"]) * b["up"],),
        "cross_entropy": lambda b: (f.cross_entropy(b["x"], b["classes"], reduction="none"),),
    }


def plain(torch):
    """What a compiler is given: the formulas, where torch's own function is one kernel that it would call."""

    def rms_norm(x, weight):
        v = x.float()
        return (v * torch.rsqrt((v * v).mean(1, keepdim=True) + EPS)).to(x.dtype) * weight

    def add_rmsnorm(b):
        h = b["x"] + b["residual"]
        return rms_norm(h, b["weight"]), h

    def softmax_backward(b):
        dy, p = b["dy"].float(), b["p"].float()
        return ((p * (dy - (p * dy).sum(1, keepdim=True))).to(b["dy"].dtype),)

    def rmsnorm_backward(b):
        dy, x, r = b["dy"].float(), b["x"].float(), b["rstd"][:, None]
        h, g = x * r, dy * b["weight"].float()
        return ((g - h * (g * h).mean(1, keepdim=True)) * r).to(b["x"].dtype), (dy * h).sum(0)

    def layernorm_backward(b):
        dy, x, r = b["dy"].float(), b["x"].float(), b["rstd"][:, None]
        h, g = (x - b["mean"][:, None]) * r, dy * b["weight"].float()
        dx = (g - g.mean(1, keepdim=True) - h * (g * h).mean(1, keepdim=True)) * r
        return dx.to(b["x"].dtype), (dy * h).sum(0), dy.sum(0)

    def cross_entropy_backward(b):
        x, classes = b["x"].float(), b["classes"][:, None]
        lse = torch.logsumexp(x, 1, keepdim=True)
        hot = torch.arange(x.shape[1], device=x.device) == classes
        return (torch.exp(x - lse) - hot.float()).to(b["x"].dtype), (lse - x.gather(1, classes))[:, 0]

    def in_int8(y):
        scale = y.abs().amax(1, keepdim=True) / 127
        return (y / scale).round().clamp(-127, 127).to(torch.int8), scale[:, 0]

    def in_e4m3(y):
        scale = y.abs().amax(1, keepdim=True) / 448
        return (y / scale).to(torch.float8_e4m3fn), scale[:, 0]

    def wide_norm(b):
        v = b["x"].float()
        return v * torch.rsqrt((v * v).mean(1, keepdim=True) + EPS) * b["weight"].float()

    def log_softmax_backward(b):
        dy = b["dy"].float()
        return ((dy - torch.exp(b["logs"].float()) * dy.sum(1, keepdim=True)).to(b["dy"].dtype),)

    return {**eager(torch), "quantize_int8": lambda b: in_int8(b["x"].float()),
            "quantize_fp8": lambda b: in_e4m3(b["x"].float()), "rmsnorm_int8": lambda b: in_int8(wide_norm(b)),
            "rmsnorm_fp8": lambda b: in_e4m3(wide_norm(b)), "log_softmax_backward": log_softmax_backward,
            "rmsnorm": lambda b: (rms_norm(b["x"], b["weight"]),), "add_rmsnorm": add_rmsnorm,
            "softmax_backward": softmax_backward, "rmsnorm_backward": rmsnorm_backward,
            "layernorm_backward": layernorm_backward, "cross_entropy_backward": cross_entropy_backward}


def naive_softmax(x):
    z = x - x.max(dim=1)[0][:, None]
    e = z.exp()
    return e / e.sum(dim=1)[:, None]


@functools.lru_cache(maxsize=None)
def scripted(torch):
    return torch.jit.script(naive_softmax)


def launcher(case, function):
    ready = {}

    def launch(i):
        if i not in ready:
            ready[i] = case.tensors(i)
            if "target" in ready[i]:
                ready[i]["classes"] = ready[i]["target"].long()
        return function(ready[i])

    return launch


def torch_of(case):
    if case.machine.torch is None:
        raise Skip("torch is not there")
    return case.machine.torch


def eager_peer(case):
    known = eager(torch_of(case))
    if case.kernel.name not in known:
        raise NotFor("torch has no one call for it")
    return launcher(case, known[case.kernel.name])


def naive_peer(case):
    torch_of(case)
    if case.kernel.name != "softmax":
        raise NotFor("the chain is softmax's")
    return launcher(case, lambda b: (naive_softmax(b["x"]),))


def script_peer(case):
    function = scripted(torch_of(case))
    if case.kernel.name != "softmax":
        raise NotFor("the chain is softmax's")
    launch = launcher(case, lambda b: (function(b["x"]),))
    for _ in range(3):  # the first calls are watched, then it is compiled
        launch(0)
    return launch


def compile_peer(case):
    torch = torch_of(case)
    if not case.machine.is_gpu:
        raise Skip("compiled on a GPU only")
    importlib.import_module("torch._dynamo").reset()  # each size anew: static shapes
    return launcher(case, torch.compile(plain(torch)[case.kernel.name], dynamic=False))


PEERS = {"torch": eager_peer, "torch_naive": naive_peer, "torch_jit": script_peer}
SLOW_PEERS = {"torch_compile": compile_peer}
