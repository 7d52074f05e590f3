"""selftest.py - faults planted in the evaluator and in a device's result must be caught,
and a failure must become small.

In: a device that is right. Out: 0 if every fault was caught within LIMIT kernels, 1 if not.
"""
import hashlib
import os
import subprocess
import sys
import time

from evaluate import Evaluator, Undefined
from execute import execute, fsc
from generate import make
from reduce import reduce

LIMIT = 300
FAULTS = [("shift", "int"), ("wrap", "int"), ("other", "int"), ("store mask", "int"), ("extend", "int"),
          ("truncate", "int"), ("wide", "int"), ("unsigned", "int"), ("mixed", "int"), ("sum", "int"),
          ("loop", "int"), ("dot", "int"), ("other", "float"), ("loop", "float"), ("store mask", "float")]
SMALL = 12  # lines of a reduced kernel


def digest():
    text = "".join(make(seed, mode).emit() for seed in range(10) for mode in ("int", "float"))
    return hashlib.sha256(text.encode()).hexdigest()


def same_everywhere():
    here = os.path.dirname(os.path.abspath(__file__))
    environment = dict(os.environ, PYTHONHASHSEED="7")
    code = f"import sys; sys.path.insert(0, {here!r}); import selftest; print(selftest.digest())"
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True,
                           check=True).stdout.strip()
    return digest() == digest() == other


def wrongly(p, fault):
    """What the kernel gives by an evaluator with the fault; None if the fault shows nowhere."""
    try:
        right, wrong = Evaluator(p).run(), Evaluator(p, fault).run()
    except Undefined:
        return None
    return wrong if any((right[0][b].view("u1") != wrong[0][b].view("u1")).any() for b in right[0]) else None


def caught(fault, mode, device):
    """The first seed that shows a fault, with its kernel."""
    for seed in range(LIMIT):
        p = make(seed, mode)
        expected = wrongly(p, fault)
        if expected and execute(p, device, expected).kind == "wrong":
            return seed, p
    return None, None


class Planted:
    """An Outcome for the reducer: the right evaluator agrees with the device, the one with the fault does not."""

    def __init__(self, yes):
        self.yes = yes

    def same(self, other):
        return self.yes == other.yes


def ask(p, fault, device):
    try:
        expected = wrongly(p, fault)
        return Planted(bool(expected) and execute(p, device).kind == "ok" and
                       execute(p, device, expected).kind == "wrong")
    except Exception:  # a kernel that the reducer broke
        return Planted(False)


def main(name):
    device, bad = fsc.Device(name), []
    if not same_everywhere():
        bad.append("a seed is not one kernel")
    damaged = [execute(make(seed, "int"), device, None, damage=True).kind for seed in range(10)]
    if damaged.count("wrong") < 9:
        bad.append(f"a damaged result goes unseen: {damaged}")
    for fault, mode in FAULTS:
        seed, p = caught(fault, mode, device)
        if p is None:
            bad.append(f"the fault '{fault}' goes unseen in {LIMIT} kernels of mode {mode}")
            continue
        small = reduce(p, Planted(True), lambda q: ask(q, fault, device), 60, time.process_time)
        lines = len(small.emit().splitlines())
        print(f"fault '{fault}', mode {mode}: seen at seed {seed}, {len(p.emit().splitlines())} lines made {lines}",
              flush=True)
        if lines > SMALL or not ask(small, fault, device).yes:
            bad.append(f"the fault '{fault}' is not reduced:\n{small.emit()}")
    for text in bad:
        print("FAILED", text)
    print(f"{len(FAULTS) + 2} checks, {len(bad)} failed")
    return 1 if bad else 0
