"""liger_rows.py - Liger's kernels, where the package is installed. In: a case. Out: launch(i) → outputs."""
from cases import EPS
from machine import NotFor, Skip
from peers.torch_rows import launcher, torch_of

IGNORED = -100
WARPS = 32  # of cross-entropy, which Liger gives it on Hopper
LLAMA = 0  # Liger's casting mode: rstd in fp32, products in the type of x


def liger_peer(case):
    torch_of(case)
    try:
        import liger_kernel.transformers.functional as liger
        from liger_kernel.ops.cross_entropy import MAX_FUSED_SIZE, liger_cross_entropy_kernel
        from liger_kernel.ops.layer_norm import layer_norm_backward
        from liger_kernel.ops.rms_norm import rms_norm_backward
        from liger_kernel.ops.utils import calculate_settings
        from triton import next_power_of_2
    except ImportError as why:
        raise Skip(f"Liger cannot be imported: {why}")

    def in_place(b):
        """The kernel alone: the call before it counts what is ignored, on the host."""
        x, y, loss = b["x"], b["classes"], b["loss"]
        liger_cross_entropy_kernel[(case.rows,)](
            x, case.n, y, 1, None, loss, None, 1, None, 0, None, 0, case.n, case.rows, case.rows, 0.0, IGNORED, 0.0,
            0.0, "none", None, False, False, False, min(MAX_FUSED_SIZE, next_power_of_2(case.n)), False, False, True,
            num_warps=WARPS)
        return x, loss

    known = {"softmax": lambda b: (liger.liger_softmax(b["x"]),),
             "layernorm": lambda b: (liger.liger_layer_norm(b["x"], b["weight"], b["bias"], EPS),),
             "rmsnorm": lambda b: (liger.liger_rms_norm(b["x"], b["weight"], EPS),),
             "add_rmsnorm": lambda b: liger.liger_fused_add_rms_norm(b["x"], b["residual"], b["weight"], EPS),
             "rmsnorm_backward": lambda b: rms_norm_backward(
                 b["dy"], b["x"], b["weight"], b["rstd"], 0.0, LLAMA, *calculate_settings(case.n), False, None),
             "layernorm_backward": lambda b: layer_norm_backward(b["dy"], b["x"], b["weight"], b["weight"], b["mean"],
                                                                 b["rstd"]),
             "cross_entropy": lambda b: (liger.liger_cross_entropy(b["x"], b["classes"], reduction="none"),),
             "cross_entropy_backward": in_place}
    if case.kernel.name not in known:
        raise NotFor("Liger's form of it is not called here")
    launch = launcher(case, known[case.kernel.name])
    # it counts what is ignored on the host, which ends a capture, and those of all peers behind it
    launch.is_capturable = case.kernel.name != "cross_entropy"
    return launch


PEERS = {"liger": liger_peer}
