"""run.py - runs kernels on a device and judges them against float64:
run.py --device cpu|emu|cuda [--check] [--all] [--most N] [WORD …]

Each module named test_*.py beside this file holds functions marked @case; a case is called once per set of its
parameters with (device, **parameters) and raises when something is wrong. WORDs choose cases whose name contains one of
them; slow cases run with --all only. --most N takes at most N sets of each case's parameters, spread evenly, and
--turn K others of them; --part I/N every Nth case from the Ith on; --jobs N runs all parts side by side, a process
each; --seconds S begins no case after that time. Ends with one line: N passed, N failed, N skipped.
"""
import argparse
import glob
import importlib
import os
import re
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("FSC_CACHE_DIR", "off")  # every case compiles; nothing is written into the user's cache
import fsc  # noqa: E402
from case import CASES, Skip  # noqa: E402


def spread(cases, most, turn=0):
    """cases without those of families that have more than `most`: these are cut into so many parts, and one case of
    each part stays, at places in turn (the golden section), so that the last parameters take many values, too.
    Another turn begins at another place."""
    families = {}
    for case in cases:
        families.setdefault(case[0].split("(")[0], []).append(case)
    kept = []
    for f in families.values():
        ends = [i * len(f) // min(most, len(f)) for i in range(min(most, len(f)) + 1)]
        kept += [f[a + int((i + turn) * 0.6180339887 % 1 * (b - a))] for i, (a, b) in enumerate(zip(ends, ends[1:]))]
    return kept


def side_by_side(jobs):
    """This very command once for each part, at the same time: prints what each says and adds up their tallies."""
    start = time.time()
    parts = [subprocess.Popen([sys.executable, *sys.argv, "--jobs", "1", "--part", f"{i}/{jobs}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
             for i in range(jobs)]
    totals, broken = [0, 0, 0], 0
    for i, part in enumerate(parts):
        text = part.communicate()[0]
        tally = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped\n\Z", text, re.M)
        broken += part.returncode != 0
        if tally:
            totals = [a + int(b) for a, b in zip(totals, tally.groups())]
            text = text[:tally.start()]
        else:
            text += f"part {i}/{jobs} ended with status {part.returncode} and no tally\n"
            broken += 1
        print(text, end="", flush=True)
    print(f"{jobs} parts: {time.time() - start:.1f} s")
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if broken or not totals[0] else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cpu")
    p.add_argument("--all", action="store_true")
    p.add_argument("--cpu", help="compile for that processor (device cpu), such as x86-64")
    p.add_argument("--through", metavar="COMMAND", help="with --cpu of another kind of processor: run its code by this "
                   "emulator, such as qemu-aarch64 (tests/run/foreign.py)")
    p.add_argument("--arch", help="code for it: the card's portable arch, such as sm_90, or sm_90a")
    p.add_argument("--check", action="store_true", help="checked launches (always, on emu)")
    p.add_argument("--first", action="store_true", help="stop at the first failure")
    p.add_argument("--most", type=int, metavar="N", help="at most N sets of each case's parameters, spread evenly")
    p.add_argument("--turn", type=int, default=0, metavar="K", help="with --most: other sets for each K")
    p.add_argument("--num-ctas", type=int, help="blocks of every program (on cuda, from sm_90 on)")
    p.add_argument("--split", action="store_true", help="those blocks meet through global memory, and are no cluster")
    p.add_argument("--part", metavar="I/N", help="of the chosen cases only number I, I + N, I + 2 N …")
    p.add_argument("--jobs", type=int, default=1, metavar="N", help="that many parts side by side")
    p.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after that time")
    p.add_argument("--opt", type=int, help="-O level, 0 to 3")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("words", nargs="*")
    o = p.parse_args()
    if o.jobs > 1:
        return side_by_side(o.jobs)
    if o.through:
        import foreign
        foreign.install(o.cpu, o.through)
    elif o.cpu:
        fsc.Jit.defaults["cpu"] = o.cpu
    if o.arch:
        fsc.Jit.defaults["arch"] = o.arch.encode()
    if o.num_ctas:
        fsc.Jit.defaults["num_ctas"] = o.num_ctas
        fsc.Jit.defaults["split"] = o.split
    if o.opt is not None:
        fsc.Jit.defaults["opt_level"] = o.opt
    try:
        device = fsc.Device(o.device, checks=o.check or o.device == "emu")
    except fsc.Error as e:
        print(f"device {o.device}: {e}")
        return 3
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(here, "test_*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])
    where = {o.device, "cpu.check"} if o.check and o.device == "cpu" else {o.device}
    passed = failed = skipped = 0
    start, slowest = time.time(), (0.0, "")
    kept = spread(CASES, o.most, o.turn) if o.most else CASES
    chosen = [c for c in kept if not o.words or any(w in c[0] for w in o.words)]
    if o.part:
        first, step = map(int, o.part.split("/"))
        chosen = chosen[first::step]
    for i, (name, run, slow, only) in enumerate(chosen):
        if time.time() - start > o.seconds:
            print(f"out of time: {len(chosen) - i} cases were not begun")
            skipped += len(chosen) - i
            break
        if (slow and not o.all) or (only and not where & set(only)):
            skipped += 1
            continue
        if o.verbose:
            print("run", name, flush=True)
        begun = time.time()
        try:
            run(device)
            passed += 1
        except Skip as why:
            print(f"skipped {name}: {why}")
            skipped += 1
        except Exception as why:
            if o.split and isinstance(why, fsc.Error) and why.status == "FSC_ERROR_GRID":
                skipped += 1 # more programs than may be split
                continue
            failed += 1
            print(f"FAILED {name} on {o.device}: {why}", flush=True)
            if not isinstance(why, (AssertionError, fsc.Error)):
                traceback.print_exc()
            if o.first:
                break
            if isinstance(why, fsc.Error) and why.status == "FSC_ERROR_FAULT":
                print("the device's context is lost; the rest would fail with it")
                break
        slowest = max(slowest, (time.time() - begun, name))
    print(f"{o.device}: {time.time() - start:.1f} s, {slowest[0]:.1f} of them {slowest[1]}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not (passed or o.part) else 0


if __name__ == "__main__":
    sys.exit(main())
