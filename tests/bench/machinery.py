# The benchmark's machinery, on the CPU. What a peer can do wrong: a wrong number, a row left out, an exception, a
# compile that takes too long. None of them is timed, each is kept with its reason, and the others are measured. A wrong
# result of fsc's own fails the run.
# UNSUPPORTED: asan
# RUN: env FSC_LIBRARY=%libfsc %python %s %bench
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, sys.argv[1])
import bench  # noqa: E402
from cases import KERNELS, Case  # noqa: E402
from machine import LibMachine, Skip  # noqa: E402
from peers import own  # noqa: E402
from points import Point  # noqa: E402
from timing import sample_flushed, sample_graphs, take_turns  # noqa: E402

machine = LibMachine("cpu")


def off_by(case, factor, rows):
    """fsc's result with its first rows multiplied."""
    right = own.fused(case)

    def launch(i):
        right(i)
        buffer = case.sets[0]["y"].buffer
        numbers = buffer.read()
        numbers[:rows * case.n] *= factor
        buffer.write(numbers.astype("float32"))

    return launch


def only_skip(case):
    raise Skip("not today")


def only_fail(case):
    raise ValueError("of some kind")


def sleep(case):
    time.sleep(30)


peers = {"copy": lambda case: lambda i: None, "fsc": own.fused, "close": lambda case: off_by(case, 1 + 1e-6, 7),
         "wrong": lambda case: off_by(case, 1.001, 1), "silent": lambda case: lambda i: None, "skips": only_skip,
         "fails": only_fail, "sleeps": sleep}
bench.PEER_SECONDS = 0.5
wrong, skipped = {}, {}
case = Case(machine, Point("softmax", 7, 100, "fp32"))
launches = bench.ready(case, peers, wrong, skipped)
assert list(launches) == ["copy", "fsc", "close"], launches
assert wrong["wrong"].startswith("y: off by 1.0") and wrong["silent"] == "y: not finite", wrong
assert skipped == {"skips": "not today", "fails": "ValueError: of some kind",
                   "sleeps": "TooLong: more than 0.5 s"}, skipped
samples = sample_flushed(machine, case, launches, 5)
assert {name: len(times) for name, times in samples.items()} == {"copy": 5, "fsc": 5, "close": 5}
assert "".join(take_turns("abc", 4)) == "abcbcacababc"

# Each kernel's formula sees a change of its first input, in each output that depends on it:
# none is compared with itself.
for name in KERNELS:
    case = Case(machine, Point(name, 5, 37, "fp32"))
    launch, wants = own.fused(case), case.wants()
    launch(0)
    assert case.complaint(wants, None, 1) is None, name
    machine.randomize(case.sets[0][KERNELS[name].inputs[0]], "normal", 37)
    launch(0)
    assert "off by" in case.complaint(wants, None, 1), name

# A case over several sets: each is another memory, and they hold what was asked for.
case.rotate(10 * case.bytes)
assert len(case.sets) == 10 and len({s["x"].address for s in case.sets}) == 10


# Graphs: memory of three times the L2 in turn, eight launches at least, a peer that cannot be captured left out.
class Recorder(LibMachine):
    """A graph is its launches, done once when they are captured; a replay takes eight milliseconds."""

    def capture(self, launches):
        for launch in launches:
            launch()
        return lambda: None

    def begin(self, replay):
        replay()
        return 8.0

    def elapsed(self, milliseconds):
        return milliseconds


def watch(sets):
    return lambda i: sets.append(i)


recorder, skipped = Recorder("cpu"), {}
for l2, count in ((0, 8), (1000, 8), (3000, 12)):
    recorder.l2, order = l2, []
    case = Case(recorder, Point("softmax", 3, 32, "fp32"))  # of 768 bytes
    samples = sample_graphs(recorder, case, {"fsc": own.fused(case), "other": watch(order), "bad": lambda i: 1 // 0}, 3,
                            skipped)
    assert samples == {"fsc": [8.0 / count] * 3, "other": [8.0 / count] * 3}, samples
    assert order == [*range(len(case.sets)), *(i % len(case.sets) for i in range(count))], (l2, order)
    assert len(case.sets) == max(1, -(-3 * l2 // 768)), (l2, order)
assert skipped == {"bad": "ZeroDivisionError: integer division or modulo by zero"}, skipped

# Small numbers of fp16 have few digits, which is no mistake.
case = Case(machine, Point("softmax", 3, 40000, "fp16"))
wants, launch = case.wants(), own.fused(case)
launch(0)
assert wants[0].min() < 2.0**-20 and case.complaint(wants, None, 1) is None


def run(folder, fsc, torch, points=1):
    """What is written, and how many points failed, of a run with these two peers."""
    o = bench.parse(["--repeat", "2"])
    made = bench.Run(machine, o, os.path.join(folder, "run.jsonl"), {"name": "cpu"})
    made.peers = {"fsc": fsc, "torch": torch}
    try:
        made.set("smoke", [Point("softmax", 3, 10, "fp32")] * points, time.monotonic() + 100)
    except bench.Lost as why:
        print(why)
    made.file.close()
    with open(made.file.name) as f:
        return [json.loads(line) for line in f][1:], made.failed


def no_memory(*_):
    raise MemoryError("of 3 TB")


with tempfile.TemporaryDirectory() as folder:
    good, failed = run(folder, own.fused, only_fail)
    assert failed == 0 and sorted(good[0]["samples"]) == ["fsc"] and len(good[0]["samples"]["fsc"]) == 2
    assert good[0]["own"]["programs"] == [3, 1, 1], good[0]["own"]
    bad, failed = run(folder, lambda case: off_by(case, 2, 1), only_fail)
    assert failed == 1 and bad[0]["wrong"]["fsc"].startswith("y: off by") and bad[0]["samples"] == {}
    other, failed = run(folder, own.fused, lambda case: off_by(case, 2, 1))
    assert failed == 0 and list(other[0]["wrong"]) == ["torch"]
    assert run(folder, only_fail, own.fused)[1] == 1  # fsc is not left out in silence
    bench.Case = no_memory
    lost, failed = run(folder, own.fused, own.fused, points=9)
    assert failed == 3 and [line["failed"] for line in lost] == ["MemoryError: of 3 TB"] * 3
