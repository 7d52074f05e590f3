"""turns.py - what products.py and attention.py share: examples launched on torch's tensors, each form checked before it
is timed, the peers in turn, a line a point.

begin() says the options and the device, once. Time: the median of event pairs, as rounds of BURST launches on the same
memory, no L2 flush. Not for threads.
"""
import functools
import json
import os
import random
import re
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tests", "run")]

import torch  # noqa: E402

import fsc  # noqa: E402

EXAMPLES = os.path.join(HERE, "..", "dsl_examples")
BURST, ROUNDS, ALL = 6, 3, 1000
DTYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32", torch.int32: "i32",
          torch.float8_e4m3fn: "fp8e4nv", torch.int8: "i8", torch.uint8: "u8"}
MORE_OPTIONS = {}  # of the compile


def begin(options):
    """options: as products.py parses them."""
    global o, device, started
    o, device, started = options, fsc.Device(options.device), time.monotonic()
    torch.manual_seed(0)


def left():
    """Is there time for one more?"""
    return time.monotonic() - started <= o.seconds


def wait():
    device.wait()


def is_cpu():
    return o.device.startswith("cpu")


@functools.lru_cache(maxsize=None)
def jit(file, options):
    options = dict(options)
    with open(os.path.join(EXAMPLES, file), "rb") as f:
        return fsc.Jit(device, f.read(), file=file, defines=dict(options.pop("defines", ())), **options)


def without_passes(makers):
    """Of ours, those compiled with --passes."""
    def other(make):
        MORE_OPTIONS["passes"] = o.passes.encode()
        launch = make()
        MORE_OPTIONS.clear()
        return launch

    return [(name + " " + o.passes, lambda make=make: other(make)) for name, make in makers
            if o.passes and name.startswith("fsc")]


def ours(file, values, defines=None, **options):
    """launch() of an example on torch's tensors and numbers; .facts: its resources."""
    handle = jit(file, tuple({**options, **MORE_OPTIONS, "defines": tuple((defines or {}).items())}.items()))
    values = [(v.data_ptr(), DTYPES[v.dtype], v.numel() * v.element_size()) if isinstance(v, torch.Tensor) else v
              for v in values]
    kernel, (array, count) = handle.prepare(values), handle.args(values)
    stream = None if is_cpu() else torch.cuda.current_stream().cuda_stream

    def launch():
        fsc.check(fsc.lib.fsc_launch(kernel, None, array, count, stream))

    if is_cpu():
        return launch
    report = handle.report(values)
    launch.facts = f"{report.registers} regs" + f" {report.spill_bytes} spilled" * (report.spill_bytes > 0)
    return launch


def both(first, second, facts):
    def launch():
        first()
        second()

    launch.facts = facts
    return launch


def sample(launches, seconds=2.0):
    """name → median milliseconds; the launches take turns, in another order each round: what draws much power slows
    down who follows."""
    times, end = {name: [] for name in launches}, time.monotonic() + seconds * o.rounds / ROUNDS
    for round in range(o.rounds):
        for name in random.Random(round).sample(list(launches), len(launches)):
            pairs = []
            launches[name]()
            for _ in range(BURST):
                pair = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                pair[0].record()
                launches[name]()
                pair[1].record()
                pairs.append(pair)
            torch.cuda.synchronize()
            times[name] += [a.elapsed_time(b) for a, b in pairs]
        if time.monotonic() > end:
            break
    return {name: statistics.median(t) for name, t in times.items()}


def tried(makers, check, where):
    """name → launch of what can be made and is right."""
    launches = {}
    for name, make in makers:
        if name.startswith("fsc") and not re.search(o.only, name):
            continue
        try:
            launch = make()
            launch()
            device.wait()
        except Exception as why:
            print(f"   {where} {name}: {type(why).__name__} {str(why)[:200]}", flush=True)
            continue
        wrong = check(name)
        if wrong:
            print(f"   WRONG {where} {name}: {wrong}", flush=True)
        else:
            launches[name] = launch
    return launches


def write(**line):
    if o.out:
        with open(o.out, "a") as f:
            f.write(json.dumps(line) + "\n")


def say(launches, times, where, work, unit="TFLOP/s", shown=0):
    """The best of each peer, before it the `shown` fastest of all; writes the point."""
    best = {}
    facts = {name: launch.facts for name, launch in launches.items() if hasattr(launch, "facts")}
    for name in sorted(times, key=times.get):
        best.setdefault(name.split()[0], name)
    for name in sorted(times, key=times.get)[:shown]:
        print(f"        {name} {work / times[name]:.0f} {facts.get(name, '')}")
    print(f"{time.monotonic() - started:4.0f} s  {where}  " + "  ".join(
        f"{name} {work / times[name]:.0f}" + (f" ({facts[name]})" if name in facts else "") for name in best.values()),
        flush=True)
    write(where=where, unit=unit, values={name: round(work / ms, 1) for name, ms in times.items()}, facts=facts)
