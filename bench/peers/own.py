"""own.py - fsc itself: the kernels of dsl_examples through libfsc, and softmax as the chain of five kernels of naive/.

In: a case. Out: launch(i), which only launches: variants are compiled, arguments made,
when a set of memory is first used.
"""
import ctypes as c
import functools
import importlib.util
import os
from collections import namedtuple
from unittest import mock

import fsc
from machine import NotFor

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dsl_examples")
# fsc: the module of a libfsc; device: by name, as this libfsc has it; examples: the folder of its kernels
Build = namedtuple("Build", "fsc device examples")


@functools.lru_cache(maxsize=None)
def build_in(folder, name):
    """Another build of fsc, with its own examples: lib/libfsc.so and dsl_examples of an unpacked package."""
    with mock.patch.dict(os.environ, FSC_LIBRARY=os.path.join(folder, "lib", "libfsc.so")):
        spec = importlib.util.spec_from_file_location("fsc_beside", fsc.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return Build(module, module.Device(name), os.path.join(folder, "dsl_examples"))


@functools.lru_cache(maxsize=None)
def compiled(build, file, options, again=False):
    """The kernels of a file; again: apart from those that are there, compiled or loaded once more."""
    with open(os.path.join(build.examples, file), "rb") as f:
        options = dict(options)
        return build.fsc.Jit(build.device, f.read(), file=file, defines=dict(options.pop("defines", ())), **options)


def this_build(case):
    return Build(fsc, case.machine.device, EXAMPLES)


def own_kernel(case, build, again=False, defines=(), **options):
    """The case's own, without the arrays that it leaves out."""
    defines = (*defines, *((name, "None") for name in case.kernel.absent))
    return compiled(build, case.kernel.file, tuple(sorted({**options, "defines": defines}.items())), again)


def argument(x):
    return (x.address, x.dtype, x.bytes) if hasattr(x, "address") else x


def launcher(case, build, jit, make_values):
    """launch(i) of a kernel whose arguments for set i are make_values(i)."""
    ready = {}

    def prepare(i):
        values = [argument(v) for v in make_values(i)]
        return jit.prepare(values), jit.args(values)

    def launch(i):
        if i not in ready:
            ready[i] = prepare(i)
        kernel, (array, count) = ready[i]
        build.fsc.check(build.fsc.lib.fsc_launch(kernel, None, array, count, case.machine.stream()))

    return launch


def facts(case):
    """What the variant of the first set's launch takes of the GPU, as the driver has it; {} where that fails."""
    try:
        return report_of(case)
    except fsc.Error:
        return {}


def report_of(case):
    values = [argument(v) for v in case.args()]
    jit = own_kernel(case, this_build(case))
    kernel, (array, count) = jit.prepare(values), jit.args(values)
    grid, variant, report = (c.c_int64 * 3)(), c.c_size_t(), fsc.KernelReport()
    fsc.check(fsc.lib.fsc_launch_grid(kernel, array, count, grid, c.byref(variant)))
    fsc.check(fsc.lib.fsc_kernel_warmup(kernel, variant, c.byref(report)))
    return {"programs": list(grid), "threads": report.threads_per_block, "registers": report.registers,
            "spill_bytes": report.spill_bytes, "blocks_per_sm": report.blocks_per_sm,
            "limit": fsc.lib.fsc_limit_name(report.limit).decode()}


def in_turn(*launches):
    def launch(i):
        for step in launches:
            step(i)

    return launch


def fused(case, again=False, beside=None, **options):
    """beside: the folder of another build, which makes the launch."""
    build = build_in(beside, case.machine.device.name) if beside else this_build(case)
    first = launcher(case, build, own_kernel(case, build, again, **options), case.args)
    behind = [launcher(case, build, compiled(build, file, (), again),
                       lambda i, args=args: args(case.sets[i], case.rows, case.n)) for file, args in case.kernel.more]
    return in_turn(first, *behind) if behind else first


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
    build = this_build(case)
    return in_turn(*(launcher(case, build, compiled(build, f"naive/{name}.dsl", ()),
                              lambda i, values=values: values(case.sets[i])) for name, values in steps))


def turned(peers, by):
    """The same peers, begun with another one: who is loaded first differs."""
    items = list(peers.items())
    return dict(items[by % len(items):] + items[:by % len(items)])


def variants(warps, ctas, stages, without, uncached=None, beside=None, turn=0):
    """The peers for lists of num_warps and num_ctas, or of the constexpr STAGES: each its own; or fsc as it chooses,
    once more without each of the passes; without its cache on disk (uncached), of another build in a folder (beside):
    next to these fsc_again, the default once more, which tells what differs by chance alone. turn: who of them is
    loaded first."""
    if stages:
        return {f"fsc_s{s}{'_no_' + name if name else ''}": functools.partial(fused, defines=(("STAGES", s),),
                                                                              **({"passes": "-" + name} if name
                                                                                 else {}))
                for s in stages for name in ("", *without) if not name or s == stages[-1]}
    if not warps and not ctas:
        own = {"fsc": fused}
        if uncached:
            own["fsc_uncached"] = functools.partial(fused, no_cache=True)
        if beside:
            own["fsc_beside"] = functools.partial(fused, beside=beside)
        if len(own) > 1:
            own = turned({**own, "fsc_again": functools.partial(fused, again=True)}, turn)
        return {**own, "fsc_naive": naive,
                **{f"fsc_no_{name}": functools.partial(fused, passes="-" + name) for name in without}}
    return {f"fsc_{c}x{w}": functools.partial(fused, num_warps=w, num_ctas=c) for c in ctas or [0]
            for w in warps or [0]}
