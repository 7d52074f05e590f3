"""liger_rows.py - Liger's kernels, where the package is installed. In: a case. Out: launch(i) → outputs."""
from kernels import EPS
from machine import NotFor, Skip
from peers.torch_rows import launcher, torch_of


def liger_peer(case):
    torch_of(case)
    try:
        import liger_kernel.transformers.functional as liger
    except ImportError:
        raise Skip("liger_kernel is not installed")
    known = {"softmax": lambda b: (liger.liger_softmax(b["x"]),),
             "layernorm": lambda b: (liger.liger_layer_norm(b["x"], b["weight"], b["bias"], EPS),),
             "rmsnorm": lambda b: (liger.liger_rms_norm(b["x"], b["weight"], EPS),)}
    if case.kernel.name not in known:
        raise NotFor("Liger's form of it is not called here")
    return launcher(case, known[case.kernel.name])


PEERS = {"liger": liger_peer}
