#!/usr/bin/env python3
"""bench.py - fsc against its peers, in one process: bench.py [--sets tutorial cliffs …] [--seconds S] --out FOLDER

Kernel × shape × dtype × peer → raw samples (NAME.jsonl, a line a point as soon as it is measured), and from them by
report.py NAME.csv, NAME.json, NAME.md and a plot for each set. points.py has the sets, cases.py the kernels, peers/
whom they meet.

Timing: random data; each result is compared with float64 before it is timed, and what is wrong is not timed; the peers
take turns within every size. Two ways: `flush`, an event pair around one launch after the L2 was written over, and
`graph`, a CUDA graph of at least 8 launches over memory of at least 3 times the L2. GB/s = (bytes read once + bytes
written once) / time.

A peer that cannot be imported, is not for the size, fails or takes too long is left out there, and the reason kept.
Without torch fsc, the copies and the CUDA kernels remain. --device cpu measures the host's own code (set cpu; peers are
ONNX Runtime, NumPy and torch, where they can be imported); emu is for trying the program, not for numbers.
"""
import argparse
import importlib
import json
import os
import re
import signal
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests", "run")]

import fsc  # noqa: E402
import report  # noqa: E402
from cases import KERNELS, Case  # noqa: E402
from machine import NotFor, Skip, open_machine  # noqa: E402
from peers import copies, cuda_rows, own  # noqa: E402
from points import SETS, Point, Set  # noqa: E402
from timing import sample_flushed, sample_graphs  # noqa: E402

DEFAULT_SETS = ("tutorial", "whole", "anywhere", "backward", "mixed", "columns", "cliffs", "few", "kernels", "half",
                "small-batch", "batch", "vocabulary")
PEER_SECONDS = 40  # to be compiled and checked
OTHERS_TOLERANCE = 8  # times fsc's: peers may round where fsc may not


OWN = "fsc"
LOST = 3  # points that fail one after the other: an error of the device stays
FOREVER = 1e9


class TooLong(Exception):
    """A peer takes longer than PEER_SECONDS."""


class Lost(Exception):
    """Nothing more can be measured."""


def limit(seconds):
    """From now on TooLong is raised after so many seconds; 0: no longer."""

    def stop(*_):
        raise TooLong(f"more than {seconds:.3g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)


# ---- Peers -----------------------------------------------------------------------------------------------------------


def find_peers(machine, o):
    """(name → maker), (name → maker that takes seconds a point), (name → why it is not there)."""
    peers = {**copies.PEERS, **own.variants(o.num_warps, o.num_ctas, o.num_stages, o.without,
                                               o.uncached, o.beside, o.turn), **cuda_rows.PEERS}
    slow, absent = {}, {}
    wanted = {"torch_rows": machine.torch, "triton_rows": machine.torch and machine.is_gpu,
              "liger_rows": machine.torch and machine.is_gpu, "quack_rows": machine.torch and machine.is_gpu,
              "cpu_rows": not machine.is_gpu}
    for module, is_wanted in wanted.items():
        if not is_wanted:
            absent[module] = "is of the CPU" if module == "cpu_rows" else "wants torch and a GPU"
            continue
        try:
            loaded = importlib.import_module(f"peers.{module}")
        except Exception as why:  # a broken installation is no reason to measure nothing
            absent[module] = f"{type(why).__name__}: {why}"
            continue
        peers.update(loaded.PEERS)
        slow.update(getattr(loaded, "SLOW_PEERS", {}))
    if o.peers:
        wanted = lambda name: name.startswith("copy") or name in o.peers or name.split("_")[0] in o.peers  # noqa: E731
        peers, slow = ({name: make for name, make in some.items() if wanted(name)} for some in (peers, slow))
    return peers, slow, absent


def is_own(name):
    return name.startswith("fsc") and name != "fsc_naive"


def ready(case, peers, wrong, skipped, end=FOREVER):
    """name → launch, of the peers whose results are right. end: when the run should be over,
    which cuts short what compiles."""
    wants, launches = case.wants(), {}
    for name, make in peers.items():
        try:
            limit(min(PEER_SECONDS, max(1, end - time.monotonic())))
            launch = make(case)
            case.poison()
            outputs = launch(0)
            case.machine.wait()
            limit(0)
            is_copy = name.startswith("copy")
            complaint = None if is_copy else case.complaint(wants, outputs, 1 if is_own(name) else OTHERS_TOLERANCE)
            if complaint:
                wrong[name] = complaint
            else:
                launches[name] = launch
        except NotFor:
            pass
        except Skip as why:
            skipped[name] = str(why)
        except Exception as why:
            skipped[name] = f"{type(why).__name__}: {str(why)[:160]}"
        finally:
            limit(0)
    return launches


# ---- Points ----------------------------------------------------------------------------------------------------------


def describe(total, samples):
    """The peers' GB/s on a line."""
    return "  ".join(f"{name} {total / statistics.median(times) * 1e-6:.0f}" for name, times in samples.items()
                     if times)


class Run:
    """All points of all sets, each written to NAME.jsonl as soon as it is measured;
    the file's first line is the machine."""

    def __init__(self, machine, o, path, facts):
        self.machine, self.o = machine, o
        self.peers, self.slow, absent = find_peers(machine, o)
        self.file = open(path, "w")
        self.started = time.monotonic()
        self.end = self.started + (o.seconds or FOREVER)
        self.failed = self.failed_in_a_row = 0
        self.write({"schema_version": 1, "machine": facts})
        for module, why in absent.items():
            self.say(f"   {module}: {why}")

    def say(self, line):
        print(line, flush=True)

    def write(self, line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def measure(self, point):
        """What is known of the point but its samples, and these by mode."""
        machine, o, case = self.machine, self.o, Case(self.machine, point)
        wrong, skipped, samples = {}, {}, {}
        launches = ready(case, {**self.peers, **(self.slow if point.slow and o.compile else {})}, wrong, skipped,
                         self.end)
        for launch in launches.values():
            launch(0)
        if "flush" in o.modes:
            samples["flush"] = sample_flushed(machine, case, launches, o.repeat)
        if "graph" in o.modes and machine.is_gpu:
            samples["graph"] = sample_graphs(machine, case, launches, o.graph_repeat, skipped)
        facts = own.facts(case) if OWN in launches else {}
        return {"bytes": case.bytes, "own": facts, "wrong": wrong, "skipped": skipped}, samples

    def point(self, name, where, point):
        """Measures a point, and says and writes what came out."""
        try:
            known, samples = self.measure(point)
        except Exception as why:  # no memory, for one: the next point is another matter
            why = f"{type(why).__name__}: {str(why)[:200]}"
            self.say(f"   {where} failed: {why}")
            self.write({"set": name, **point._asdict(), "failed": why})
            self.failed += 1
            self.failed_in_a_row += 1
            return
        self.failed_in_a_row = 0
        self.failed += OWN in known["skipped"] or any(is_own(peer) for peer in known["wrong"])
        for mode, times in samples.items():
            rounded = {peer: [float(f"{ms:.6g}") for ms in own_times] for peer, own_times in times.items()}
            self.write({"set": name, **point._asdict(), "mode": mode, **known, "samples": rounded})
            self.say(f"{time.monotonic() - self.started:4.0f} s  {where} {mode}  {describe(known['bytes'], times)}")
        for peer, why in known["wrong"].items():
            self.say(f"   WRONG {peer}: {why}")
        for peer, why in known["skipped"].items():
            if is_own(peer) or self.o.verbose:
                self.say(f"   {peer} left out: {why}")

    def set(self, name, points, deadline):
        for done, p in enumerate(points):
            if time.monotonic() > deadline:
                self.say(f"   {name}: out of time, {len(points) - done} of {len(points)} points left out")
                return
            self.point(name, f"{name} {done + 1}/{len(points)}  {p.kernel} {p.rows}x{p.n} {p.dtype}", p)
            self.machine.release()
            if self.failed_in_a_row >= LOST:
                raise Lost(f"{LOST} points in a row failed: the device is lost")

    def sets(self):
        """Each set gets its share of the time that is left."""
        o = self.o
        for at, name in enumerate(o.sets):
            now = time.monotonic()
            share = SETS[name].share / sum(SETS[s].share for s in o.sets[at:])
            self.set(name, points_of(name, o.dtype), now + (self.end - now) * share)


def points_of(name, dtypes):
    """The set's points of these types; where it has not all of them, its points in each."""
    points = SETS[name].points
    if set(dtypes or ()) <= {p.dtype for p in points}:
        return [p for p in points if not dtypes or p.dtype in dtypes]
    return list(dict.fromkeys(p._replace(dtype=dtype) for p in points for dtype in dtypes))


def point_of(text):
    found = re.fullmatch(r"(\w+):(\d+)x(\d+):(fp32|fp16|bf16)", text)
    if not found or found[1] not in KERNELS:
        raise argparse.ArgumentTypeError(f"'{text}' is no KERNEL:ROWSxN:DTYPE; the kernels are {', '.join(KERNELS)}")
    return Point(found[1], int(found[2]), int(found[3]), found[4], True)


# ---- The command -----------------------------------------------------------------------------------------------------


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--sets", "--sweep", nargs="+", choices=SETS, default=list(DEFAULT_SETS), metavar="SET",
                   help=", ".join(SETS))
    p.add_argument("--points", nargs="+", type=point_of, metavar="KERNEL:ROWSxN:DTYPE",
                   help="instead of sets: softmax:4096x8193:fp16 …")
    p.add_argument("--device", default="cuda", help="cuda, cuda:N; cpu; emu to try the program")
    p.add_argument("--dtype", nargs="+", choices=("fp32", "fp16", "bf16"),
                   help="only these, or these in place of a set's own")
    p.add_argument("--modes", nargs="+", choices=("flush", "graph"), default=["flush", "graph"])
    p.add_argument("--repeat", type=int, default=30, help="samples of a launch after a flush")
    p.add_argument("--graph-repeat", type=int, default=12, help="samples of a graph")
    p.add_argument("--seconds", type=float, default=0, help="in all; what is then not measured is left out")
    p.add_argument("--peers", nargs="+", help="only these (the copies are always there)")
    p.add_argument("--num-warps", type=int, nargs="+", help="of fsc, a peer for each; 0: its own choice")
    p.add_argument("--num-ctas", type=int, nargs="+", help="likewise, with each of the former")
    p.add_argument("--num-stages", type=int, nargs="+",
                   help="of fsc, for kernels with a constexpr STAGES, a peer for each")
    p.add_argument("--without", nargs="*", default=[], metavar="PASS",
                   help="a peer more of fsc for each: without this pass (online, remat, …)")
    p.add_argument("--uncached", action="store_true", help="two peers more of fsc: without its cache on disk, and once "
                   "more")
    p.add_argument("--beside", metavar="FOLDER", help="likewise: another build, a folder with lib/ and dsl_examples/")
    p.add_argument("--turn", type=int, default=0, metavar="N", help="who of these is loaded first")
    p.add_argument("--no-torch", dest="with_torch", action="store_false", help="as where torch is not installed")
    p.add_argument("--no-compile", dest="compile", action="store_false",
                   help="without torch.compile, which takes seconds a point")
    p.add_argument("--name", default="bench", help="of the files written")
    p.add_argument("--out", default=".")
    p.add_argument("--verbose", action="store_true", help="say why peers are left out")
    o = p.parse_args(argv)
    if o.points:
        SETS["points"], o.sets = Set(o.points, 1), ["points"]
    return o


def machine_facts(machine, without_torch, argv):
    facts = {"name": machine.name, "arch": machine.arch, "l2_bytes": machine.l2, "driver": machine.driver_version,
             "cache": os.environ.get("FSC_CACHE_DIR", "default"), "fsc": fsc.lib.fsc_version().decode(),
             "date": time.strftime("%Y-%m-%d", time.gmtime()), "options": " ".join(argv)}
    if machine.torch is not None:
        facts["torch"] = machine.torch.__version__
    elif without_torch:
        facts["without_torch"] = without_torch
    return facts


def main(argv):
    o = parse(argv)
    try:
        machine, without_torch = open_machine(o.device, o.with_torch)
    except Exception as why:
        print(f"bench: no device {o.device}: {why}\nbench: an NVIDIA GPU with its driver is needed; --device cpu "
              "--sets smoke tries the "
              "program without one", file=sys.stderr)
        return 3
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is measured is still written up
    os.makedirs(o.out, exist_ok=True)
    base = os.path.join(o.out, o.name)
    facts = machine_facts(machine, without_torch, argv)
    print("   " + ", ".join(f"{key} {value}" for key, value in facts.items()), flush=True)
    run = Run(machine, o, base + ".jsonl", facts)
    try:
        run.sets()
    except (KeyboardInterrupt, Lost) as why:
        print(f"   ended early: {str(why) or 'interrupted'}", flush=True)
        run.failed += 1
    run.file.close()
    print(report.write(base))
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
