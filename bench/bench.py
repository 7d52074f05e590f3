#!/usr/bin/env python3
"""bench.py - fsc against its peers on one GPU, in one process: bench.py [--sweep tutorial] [--dtype fp32] --out FOLDER

Kernel × shape × dtype × peer → softmax.csv, softmax.json, softmax.svg and a table on standard output.

Timing: random data; every result is checked against float64 before it is timed; per measurement the L2 is flushed (a fill
of three times its size), then event, launch, event; the median of --repeat measurements. The peers take turns within every
size, so that a drift of the machine meets all of them. GB/s = (bytes read once + bytes written once) / time; `copy` is a
device-to-device copy of the same size: the speed of light at that size.

Peers: copy; fsc (softmax.dsl through libfsc); fsc_naive (the five kernels of dsl_examples/naive); torch (eager);
torch_naive (five eager operations); torch_jit (the same, scripted); triton (the tutorial's persistent kernel, launched by
its handle as the tutorial does); triton_row (one row a program, the best of six num_warps). A peer that cannot be imported
or does not run at a size is left out of that row.
"""
import argparse
import csv
import json
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tests", "run"), HERE]

import torch  # noqa: E402

import fsc  # noqa: E402

TORCH = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
EXAMPLES = os.path.join(HERE, "..", "dsl_examples")


def example(name):
    with open(os.path.join(EXAMPLES, name), "rb") as f:
        return f.read()


class Timer:
    """Median time of a launch in milliseconds, the L2 flushed before each."""

    def __init__(self, repeat):
        self.repeat = repeat
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.empty(3 * l2, dtype=torch.int8, device="cuda")

    def once(self, launch):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.flush.zero_()
        start.record()
        launch()
        end.record()
        return start, end

    def compare(self, peers):
        """name → launch; name → (median, spread of the middle half)."""
        events = {name: [] for name in peers}
        for _ in range(self.repeat):
            for name, launch in peers.items():
                events[name].append(self.once(launch))
        torch.cuda.synchronize()
        result = {}
        for name, pairs in events.items():
            times = sorted(a.elapsed_time(b) for a, b in pairs)
            result[name] = (statistics.median(times), times[3 * len(times) // 4] - times[len(times) // 4])
        return result


# ---- fsc -----------------------------------------------------------------------------------------------------------------


def pointer(t):
    name = next(k for k, v in TORCH.items() if v == t.dtype)
    return (t.data_ptr(), name, t.numel() * t.element_size())


class Fsc:
    def __init__(self, options):
        self.device = fsc.Device("cuda")
        self.softmax = fsc.Jit(self.device, example("softmax.dsl"), file="softmax.dsl", **options)
        self.naive = {k: fsc.Jit(self.device, example(f"naive/{k}.dsl"), file=k + ".dsl")
                      for k in ("row_max", "subtract", "exp", "row_sum", "divide")}

    def launcher(self, jit, *values):
        """A closure that only launches: the variant is compiled here."""
        kernel = jit.prepare(values)
        array, n = jit.args(values)
        stream = torch.cuda.current_stream().cuda_stream

        def launch(keep=(array, values)):
            fsc.check(fsc.lib.fsc_launch(kernel, None, array, n, stream))

        return launch

    def fused(self, y, x):
        m, n = x.shape
        return self.launcher(self.softmax, pointer(y), pointer(x), y.stride(0), x.stride(0), m, n)

    def unfused(self, y, x):
        m, n = x.shape
        top, total = torch.empty(m, device="cuda"), torch.empty(m, device="cuda")
        z, e = torch.empty_like(x), torch.empty_like(x)
        steps = [self.launcher(self.naive["row_max"], pointer(top), pointer(x), n, m, n),
                 self.launcher(self.naive["subtract"], pointer(z), pointer(x), pointer(top), n, n, m, n),
                 self.launcher(self.naive["exp"], pointer(e), pointer(z), n, n, m, n),
                 self.launcher(self.naive["row_sum"], pointer(total), pointer(e), n, m, n),
                 self.launcher(self.naive["divide"], pointer(y), pointer(e), pointer(total), n, n, m, n)]

        def launch(keep=(top, total, z, e)):
            for step in steps:
                step()

        return launch


# ---- torch -----------------------------------------------------------------------------------------------------------------


def torch_naive(x):
    z = x - x.max(dim=1)[0][:, None]
    e = torch.exp(z)
    return e / e.sum(dim=1)[:, None]


def torch_peers(y, x):
    scripted = torch.jit.script(torch_naive)
    for _ in range(3):
        scripted(x)
    return {"torch": lambda: torch.softmax(x, dim=1), "torch_naive": lambda: torch_naive(x), "torch_jit": lambda: scripted(x)}


# ---- one size ----------------------------------------------------------------------------------------------------------------


def check(name, y, x, want):
    """Non-finite values, then the distance to float64, relative down to the type's smallest normal number. Peers may round
    where fsc may not: eight times the tolerance."""
    got = y.double()
    tolerance = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[x.dtype] * (1 if name.startswith("fsc") else 8)
    if not torch.isfinite(got).all():
        return f"{name}: non-finite"
    error = ((got - want).abs() / want.clamp_min(torch.finfo(x.dtype).tiny)).max().item()
    return None if error <= tolerance else f"{name}: off by {error:.2e} (relative)"


def measure(timer, own, triton_peers, rows, n, dtype, wanted):
    x = torch.randn(rows, n, device="cuda", dtype=TORCH[dtype])
    want = torch.softmax(x.double(), dim=1)
    y = torch.empty_like(x)
    writers = {name: lambda o=o: o.fused(y, x) for name, o in own.items()}  # these write y
    if dtype == "fp32" and "fsc" in own:
        writers["fsc_naive"] = lambda: own["fsc"].unfused(y, x)
    peers, wrong = {"copy": lambda: y.copy_(x)}, []
    if triton_peers:
        for name, make in triton_peers.items():
            writers[name] = lambda make=make: make(timer, y, x)
    for name, make in writers.items():
        if wanted and name.split("_")[0] not in wanted and name not in wanted:
            continue
        try:
            launch = make()
            y.fill_(float("nan"))
            launch()
            torch.cuda.synchronize()
        except Exception as why:  # a peer that cannot do this size
            print(f"  {name} at {rows}x{n} {dtype}: {type(why).__name__}: {str(why)[:160]}", file=sys.stderr)
            if name.startswith("fsc") and "large" not in str(why):
                wrong.append(f"fsc: {why}")
            continue
        complaint = check(name, y, x, want)
        if complaint:
            wrong.append(complaint)
        peers[name] = launch
    for name, launch in torch_peers(y, x).items():
        if not wanted or name in wanted:
            complaint = check(name, launch(), x, want)
            if complaint:
                wrong.append(complaint)
            peers[name] = launch
    for launch in peers.values():
        launch()
    times = timer.compare(peers)
    moved = 2 * x.numel() * x.element_size()
    return [{"rows": rows, "n": n, "dtype": dtype, "peer": name, "ms": ms, "spread_ms": spread, "gbps": moved / ms * 1e-6,
             "of_copy": times["copy"][0] / ms} for name, (ms, spread) in times.items()], wrong


# ---- results -------------------------------------------------------------------------------------------------------------------


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def summary(records):
    table = {}
    for name in dict.fromkeys(r["peer"] for r in records):
        own = [r for r in records if r["peer"] == name]
        worst = min(own, key=lambda r: r["of_copy"])
        table[name] = {"sizes": len(own), "geomean_of_copy": geomean([r["of_copy"] for r in own]),
                       "min_of_copy": worst["of_copy"], "at_n": worst["n"]}
    return table


def plot(path, records, title):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(9, 5))
    for name in dict.fromkeys(r["peer"] for r in records):
        own = sorted((r["n"], r["gbps"]) for r in records if r["peer"] == name)
        style = {"copy": dict(color="black", linestyle="--"), "fsc": dict(color="tab:red", linewidth=2.2)}.get(name, {})
        axes.plot([n for n, _ in own], [g for _, g in own], label=name, **style)
    axes.set_xlabel("N (columns)")
    axes.set_ylabel("GB/s")
    axes.set_title(title)
    axes.set_ylim(bottom=0)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


SWEEPS = {
    "tutorial": [(4096, 128 * i) for i in range(2, 100)],
    "quick": [(4096, n) for n in (256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 8320, 12288, 12672)],
    "tune": [(4096, n) for n in (256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 4224, 6144, 8192, 8320, 10240, 12672, 16384)],
    "small": [(65536, 64), (65536, 128), (65536, 256), (16384, 512), (4096, 256), (4096, 384), (4096, 512), (4096, 768), (4096, 1024),
              (1823, 781), (132, 256)],
    "long": [(2048, 65536), (2048, 128256), (1024, 131072), (256, 262144), (128, 524288)],
    "few": [(rows, n) for rows in (1, 8, 64, 132) for n in (1 << 15, 1 << 17, 1 << 20)],
    "clusters": [(4096, 32768), (2048, 65536), (1024, 131072), (512, 262144), (256, 524288)],
    "online": [(4096, n) for n in (1024, 2048, 4096, 4097, 8192, 8320, 12672, 16384, 32768)] + [(2048, 65536), (1024, 131072)],
    "edges": [(65536, 64), (1823, 781), (4096, 4097), (4096, 8193), (4096, 32768)],
}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--sweep", choices=SWEEPS, default="tutorial")
    p.add_argument("--dtype", nargs="*", default=["fp32"], choices=TORCH)
    p.add_argument("--repeat", type=int, default=30)
    p.add_argument("--peers", nargs="*", help="only these (copy is always there)")
    p.add_argument("--num-warps", type=int, nargs="*", default=[0], help="of fsc, a peer for each; 0: its own choice")
    p.add_argument("--num-ctas", type=int, nargs="*", default=[0], help="likewise, with each of the former")
    p.add_argument("--without", nargs="*", default=[], metavar="PASS", help="a peer more of fsc for each: without this pass (online, ...)")
    p.add_argument("--name", default="softmax", help="of the files written")
    p.add_argument("--out", default=".")
    o = p.parse_args()
    torch.manual_seed(0)
    timer = Timer(o.repeat)
    own = {"fsc": Fsc({})} if o.num_warps == [0] and o.num_ctas == [0] else {
        f"fsc_{c}x{w}": Fsc({"num_warps": w, "num_ctas": c}) for c in o.num_ctas for w in o.num_warps}
    own.update({f"fsc_no_{name}": Fsc({"passes": "-" + name}) for name in o.without})
    triton_peers = {}
    try:
        from peers.triton_softmax import PEERS as triton_peers
    except ImportError as why:
        print(f"no Triton: {why}", file=sys.stderr)
    records, wrong = [], []
    for dtype in o.dtype:
        for rows, n in SWEEPS[o.sweep]:
            got, bad = measure(timer, own, triton_peers, rows, n, dtype, o.peers)
            records += got
            wrong += [f"{rows}x{n} {dtype}: {b}" for b in bad]
            line = "  ".join(f"{r['peer']} {r['gbps']:.0f}" for r in got)
            print(f"{rows}x{n} {dtype}  {line}", flush=True)
    os.makedirs(o.out, exist_ok=True)
    base = os.path.join(o.out, o.name)
    with open(base + ".csv", "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in r.items()} for r in records)
    result = {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__, "fsc": fsc.lib.fsc_version().decode(),
              "sweep": o.sweep, "repeat": o.repeat, "wrong": wrong, "summary": summary(records), "records": records}
    with open(base + ".json", "w") as f:
        json.dump(result, f, indent=1)
    try:
        plot(base + ".svg", records, f"softmax, {o.sweep} sweep, {result['gpu']}")
    except ImportError as why:
        print(f"no plot: {why}", file=sys.stderr)
    for name, row in result["summary"].items():
        print(f"{name:12} {row['sizes']:4} sizes  geomean {row['geomean_of_copy']:.3f} of copy, min {row['min_of_copy']:.3f} at {row['at_n']}")
    for line in wrong:
        print("WRONG", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
