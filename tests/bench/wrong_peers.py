# What a peer can do wrong, on the CPU: a wrong number, a row left out, an exception, a compile that takes too long. None of them
# is timed, each is kept with its reason, and the others are measured. A wrong result of fsc's own fails the run.
# UNSUPPORTED: asan
# RUN: env FSC_LIBRARY=%libfsc %python %s %bench
import sys
import time

sys.path.insert(0, sys.argv[1])
import bench  # noqa: E402
from kernels import KERNELS, Case  # noqa: E402
from machine import LibMachine, Skip  # noqa: E402
from peers import own  # noqa: E402
from points import Point  # noqa: E402
from timing import sample_flushed, take_turns  # noqa: E402

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
         "wrong": lambda case: off_by(case, 1.001, 1), "silent": lambda case: lambda i: None, "skips": only_skip, "fails": only_fail,
         "sleeps": sleep}
bench.PEER_SECONDS = 0.5
wrong, skipped = {}, {}
case = Case(machine, Point("softmax", 7, 100, "fp32"))
launches = bench.ready(case, peers, wrong, skipped)
assert list(launches) == ["copy", "fsc", "close"], launches
assert wrong["wrong"].startswith("y: off by 1.0") and wrong["silent"] == "y: not finite", wrong
assert skipped == {"skips": "not today", "fails": "ValueError: of some kind", "sleeps": "TooLong: more than 0.5 s"}, skipped
samples = sample_flushed(machine, launches, 5)
assert {name: len(times) for name, times in samples.items()} == {"copy": 5, "fsc": 5, "close": 5}
assert "".join(take_turns("abc", 4)) == "abcbcacababc"

# Each kernel's formula sees a change of its first input, in each output that depends on it: none is compared with itself.
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


class Log:
    lines = []

    def write(self, line):
        self.lines.append(line)


options = bench.parse(["--repeat", "2"])
points = [Point("softmax", 3, 10, "fp32")]
late = time.monotonic() + 100
run = lambda peers: bench.measure_set(machine, "smoke", points, peers, {}, options, Log(), late, 0)  # noqa: E731
assert run({"fsc": own.fused}) == 0
assert run({"fsc": lambda case: off_by(case, 2, 1), "torch": only_fail}) == 1
assert run({"fsc": own.fused, "torch": lambda case: off_by(case, 2, 1)}) == 0
assert [sorted(line["wrong"]) for line in Log.lines] == [[], ["fsc"], ["torch"]]
