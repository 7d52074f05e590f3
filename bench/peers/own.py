"""own.py - fsc itself: the kernels of dsl_examples through libfsc, and softmax as the chain of five kernels of naive/.

In: a case. Out: launch(i), which only launches: variants are compiled, arguments made,
when a set of memory is first used.
"""
import ctypes as c
import functools
import os

import fsc
from machine import NotFor

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dsl_examples")


@functools.lru_cache(maxsize=None)
def compiled(device, file, options, again=False):
    """The kernels of a file; again: apart from those that are there, compiled or loaded once more."""
    with open(os.path.join(EXAMPLES, file), "rb") as f:
        options = dict(options)
        return fsc.Jit(device, f.read(), file=file, defines=dict(options.pop("defines", ())), **options)


def argument(x):
    return (x.address, x.dtype, x.bytes) if hasattr(x, "address") else x


def launcher(case, jit, make_values):
    """launch(i) of a kernel whose arguments for set i are make_values(i)."""
    ready = {}

    def prepare(i):
        values = [argument(v) for v in make_values(i)]
        return jit.prepare(values), jit.args(values)

    def launch(i):
        if i not in ready:
            ready[i] = prepare(i)
        kernel, (array, count) = ready[i]
        fsc.check(fsc.lib.fsc_launch(kernel, None, array, count, case.machine.stream()))

    return launch


def facts(case):
    """What the variant of the first set's launch takes of the GPU, as the driver has it; {} where that fails."""
    try:
        return report_of(case)
    except fsc.Error:
        return {}


def report_of(case):
    values = [argument(v) for v in case.args()]
    jit = compiled(case.machine.device, case.kernel.file, ())
    kernel, (array, count) = jit.prepare(values), jit.args(values)
    grid, variant, report = (c.c_int64 * 3)(), c.c_size_t(), fsc.KernelReport()
    fsc.check(fsc.lib.fsc_launch_grid(kernel, array, count, grid, c.byref(variant)))
    fsc.check(fsc.lib.fsc_kernel_warmup(kernel, variant, c.byref(report)))
    return {"programs": list(grid), "threads": report.threads_per_block, "registers": report.registers,
            "spill_bytes": report.spill_bytes, "blocks_per_sm": report.blocks_per_sm,
            "limit": fsc.lib.fsc_limit_name(report.limit).decode()}


def fused(case, again=False, **options):
    jit = compiled(case.machine.device, case.kernel.file, tuple(sorted(options.items())), again)
    return launcher(case, jit, case.args)


def naive(case):
    if case.kernel.name != "softmax":
        raise NotFor("the chain is softmax's")
    if case.dtype != "fp32":
        raise NotFor("the chain rounds after every step: fp32 only")
    m, n, machine = case.rows, case.n, case.machine
    top, total = machine.array((m,), case.dtype), machine.array((m,), case.dtype)
    z, e = machine.array((m, n), case.dtype), machine.array((m, n), case.dtype)
    steps = [("row_max", lambda b: (top, b["x"], n, m, n)), ("subtract", lambda b: (z, b["x"], top, n, n, m, n)),
             ("exp", lambda b: (e, z, n, n, m, n)), ("row_sum", lambda b: (total, e, n, m, n)),
             ("divide", lambda b: (b["y"], e, total, n, n, m, n))]
    launches = [launcher(case, compiled(machine.device, f"naive/{name}.dsl", ()),
                         lambda i, values=values: values(case.sets[i]))
                for name, values in steps]

    def launch(i):
        for step in launches:
            step(i)

    return launch


def turned(peers, by):
    """The same peers, begun with another one: who is loaded first differs."""
    items = list(peers.items())
    return dict(items[by % len(items):] + items[:by % len(items)])


def variants(warps, ctas, stages, without, uncached=None):
    """The peers for lists of num_warps and num_ctas, or of the constexpr STAGES: each its own; or fsc as it chooses,
    once more without each of the passes; uncached, a number: without its cache on disk, and beside it fsc_again, the
    default once more, which tells what differs by chance alone; the number turns who of the three is loaded first."""
    if stages:
        return {f"fsc_s{s}{'_no_' + name if name else ''}": functools.partial(fused, defines=(("STAGES", s),),
                                                                              **({"passes": "-" + name} if name
                                                                                 else {}))
                for s in stages for name in ("", *without) if not name or s == stages[-1]}
    if not warps and not ctas:
        own = {"fsc": fused}
        if uncached is not None:
            own = turned({**own, "fsc_uncached": functools.partial(fused, no_cache=True),
                          "fsc_again": functools.partial(fused, again=True)}, uncached)
        return {**own, "fsc_naive": naive,
                **{f"fsc_no_{name}": functools.partial(fused, passes="-" + name) for name in without}}
    return {f"fsc_{c}x{w}": functools.partial(fused, num_warps=w, num_ctas=c) for c in ctas or [0]
            for w in warps or [0]}
