"""random_kernels.py - random well-defined kernels on devices, judged by an independent evaluator;
failures are made small.

    random_kernels.py --device cpu[,emu[,cuda]] --count 2000 --seed 1 [--mode int|float|both] [--seconds LIMIT]
                      [--state FILE] [--out FOLDER] [--only SEED] [--statistics] [--self-test]

A device may be written DEVICE:check or DEVICE:plain, with and without the checks of launches; emu is checked unless
plain. In mode both, even seeds are integer kernels and odd ones float kernels. A seed is the same kernel on every
machine. With --state a run goes on where the last one ended. Exit: 0 none failed, 1 some did, 3 there is no such
device.
"""
import argparse
import collections
import json
import os
import sys
import time
from multiprocessing.connection import wait

from generate import make
from reduce import reduce
from work import Missing, Worker


def mode_of(seed, mode):
    return mode if mode != "both" else ("int", "float")[seed % 2]


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--device", default="cpu")
    p.add_argument("--count", type=int, default=2000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--mode", choices=["int", "float", "both"], default="both")
    p.add_argument("--seconds", type=float, default=float("inf"), help="begin no kernel after that time")
    p.add_argument("--state", help="where the next seed and the tally are kept")
    p.add_argument("--out", default="build/random-failures",
                   help="the folder for reduced kernels; made when there is one")
    p.add_argument("--only", type=int, help="run this seed alone and show it")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--reductions", type=int, default=10, help="reduce that many failures at most")
    p.add_argument("--opt", type=int, help="-O level, 0 to 3")
    p.add_argument("--statistics", action="store_true", help="how often each construct occurred")
    p.add_argument("--self-test", action="store_true")
    return p.parse_args()


class Run:
    """Kernels handed to workers; results taken in the order of the seeds, so that the state is one number."""

    def __init__(self, o):
        self.o, self.devices = o, o.device.split(",")
        self.done, self.failures, self.next = 0, [], o.seed
        self.first, self.results, self.statistics = o.seed, {}, collections.Counter()
        self.reducer, self.reduced = None, 0
        if o.state and os.path.exists(o.state):
            with open(o.state) as f:
                saved = json.load(f)
            self.next, self.done, self.failures = saved["next"], saved["done"], saved["failures"]
        self.end = self.first + o.count

    def save(self):
        if self.o.state:
            with open(self.o.state + ".new", "w") as f:
                json.dump(dict(next=self.next, done=self.done, failures=self.failures), f)
            os.replace(self.o.state + ".new", self.o.state)

    def all(self):
        start, seed = time.monotonic(), self.next
        workers = [Worker(self.devices, True, self.o.opt) for _ in range(max(1, min(self.o.jobs, self.end - seed)))]
        idle = list(workers)
        while len(idle) < len(workers) or seed < self.end:
            while idle and seed < self.end and time.monotonic() - start < self.o.seconds:
                idle.pop().submit(("seed", seed, mode_of(seed, self.o.mode)))
                seed += 1
            busy = [w for w in workers if w.task]
            if not busy:
                break
            ready = wait([w.pipe for w in busy], timeout=1)
            for w in busy:
                if w.pipe in ready or w.late():
                    at = w.task[1]
                    self.results[at] = w.result()
                    idle.append(w)
            self.commit()
        for w in workers:
            w.close()
        self.save()

    def commit(self):
        while self.next in self.results:
            device, outcome, counts = self.results.pop(self.next)
            self.done += 1
            self.statistics.update(counts or {})
            if outcome:
                self.failures.append(self.next)
                self.report(self.next, device, outcome)
            self.next += 1
            if self.done % 50 == 0:
                self.save()

    def report(self, seed, device, outcome):
        print(f"FAILED seed {seed} ({mode_of(seed, self.o.mode)}) on {device}: {outcome.kind}: "
              f"{outcome.text.strip()[:600]}", flush=True)
        if outcome.kind == "generator" or self.reduced >= self.o.reductions:
            return
        self.reduced += 1
        program = make(seed, mode_of(seed, self.o.mode))
        worker = Worker([device], True, self.o.opt)
        if outcome.kind in ("crash", "hang"):  # which device it was is not known yet
            for name in self.devices:
                worker.close()
                worker, device = Worker([name], True, self.o.opt), name
                if worker.ask(("program", program, name)).same(outcome):
                    break
        small = reduce(program, outcome, lambda p: worker.ask(("program", p, device)))
        last = worker.ask(("program", small, device))
        worker.close()
        self.write(seed, device, small, outcome if last.kind == "ok" else last)

    def write(self, seed, device, p, outcome):
        os.makedirs(self.o.out, exist_ok=True)
        path = os.path.join(self.o.out, f"{mode_of(seed, self.o.mode)}-{seed}-{device.replace(':', '-')}.dsl")
        text = describe(seed, device, p, outcome) + p.emit()
        with open(path, "w") as f:
            f.write(text)
        print(f"reduced to {path}:\n{text}", flush=True)


def describe(seed, device, p, outcome):
    """The comment above a reduced kernel: how it is launched, and what came of it."""
    lines = [f"seed {seed}, mode {p.mode}, device {device}, num_warps {p.num_warps}, num_ctas {p.num_ctas}: "
             f"{outcome.kind}"]
    lines += [x for x in outcome.text.strip().splitlines()[:12]]
    for n, name, _ in p.pointers:
        b = p.buffer(name)
        data = "poisoned" if b.data is None else "zeros" if not b.data.any() else b.data.tolist()
        lines.append(f"{n}: {b.count} of {b.dtype} at an offset of {b.offset}: {str(data)[:2000]}")
    lines += [f"{n}: {v}" for n, _, v in p.scalars]
    return "".join(f"# {x}\n" for x in lines)


def only(o):
    p, worker, failed = make(o.only, mode_of(o.only, o.mode)), None, False
    print(p.emit())
    for device in o.device.split(","):
        worker = Worker([device], False, o.opt)
        outcome = worker.ask(("program", p, device))
        worker.close()
        print(describe(o.only, device, p, outcome))
        failed |= outcome.kind != "ok"
        if failed:
            run = Run(o)
            run.report(o.only, device, outcome)
            break
    return 1 if failed else 0


def main():
    o = options()
    if o.self_test:
        import selftest
        return selftest.main(o.device.split(",")[0])
    try:
        if o.only is not None:
            return only(o)
        run = Run(o)
        run.all()
    except Missing as why:
        print(f"{o.device}: {why}")
        return 3
    if o.statistics:
        for name, n in sorted(run.statistics.items()):
            print(f"{n:8d} {name}")
    print(f"{run.done} kernels, {len(run.failures)} failed")
    return 1 if run.failures or not run.done else 0


if __name__ == "__main__":
    sys.exit(main())
