"""quack_rows.py - QuACK's kernels, where the package is installed. In: a case. Out: launch(i) → outputs."""
from cases import EPS, SIZES
from machine import NotFor, Skip
from peers.torch_rows import launcher, torch_of


def quack_peer(case):
    torch_of(case)
    try:
        from quack.cross_entropy import cross_entropy_fwd
        from quack.rmsnorm import layernorm_bwd, layernorm_fwd, rmsnorm_bwd, rmsnorm_fwd
        from quack.softmax import softmax_bwd, softmax_fwd
    except ImportError as why:
        raise Skip(f"QuACK cannot be imported: {why}")
    if case.n * SIZES[case.dtype] % 16:
        raise NotFor("QuACK takes rows of whole vectors of 16 bytes")
    weights = {}  # of layer norm, which QuACK takes in fp32

    def wide(b, name):
        key = b[name].data_ptr()
        if key not in weights:
            weights[key] = b[name].float()
        return weights[key]

    known = {"softmax": lambda b: (softmax_fwd(b["x"]),),
             "softmax_backward": lambda b: (softmax_bwd(b["dy"], b["p"]),),
             "layernorm": lambda b: layernorm_fwd(b["x"], wide(b, "weight"), wide(b, "bias"), EPS, True, True)[::2],
             "rmsnorm": lambda b: rmsnorm_fwd(b["x"], b["weight"], eps=EPS, store_rstd=True)[::2],
             "add_rmsnorm": lambda b: rmsnorm_fwd(b["x"], b["weight"], residual=b["residual"], eps=EPS)[:2],
             "rmsnorm_backward": lambda b: rmsnorm_bwd(b["x"], b["weight"], b["dy"], b["rstd"])[:2],
             "layernorm_backward": lambda b: layernorm_bwd(b["x"], wide(b, "weight"), b["dy"], b["rstd"], b["mean"]),
             "cross_entropy": lambda b: cross_entropy_fwd(b["x"], b["classes"], return_lse=True),
             "cross_entropy_backward": lambda b: cross_entropy_fwd(b["x"], b["classes"], return_dx=True,
                                                                   inplace_backward=True)[::-1]}
    if case.kernel.name not in known:
        raise NotFor("QuACK has no such kernel, or it is not called here")
    return launcher(case, known[case.kernel.name])


PEERS = {"quack": quack_peer}
