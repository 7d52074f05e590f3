#!/usr/bin/env python3
"""plants.py RUN DEF: does the run suite, on emulated threads, see each planted fault of compiler/base/plant.def?

RUN is tests/run/run.py, with FSC_LIBRARY a libfsc built with -DFSC_PLANTS=ON. Each row of DEF is switched on by itself, and
the cases that CAUGHT_BY names must then fail, all for a wrong result or a finding, none by a crash; without any they pass.
"""
import os
import re
import subprocess
import sys

CAUGHT_BY = {  # fault: words for the cases that see it
    "drop-barrier": ["in_place", "reversed_back"],
    "swap-mask": ["store_beyond"],
    "cut-vector": ["softmax_sizes", "arithmetic_float(dtype=fp16, op=+)"],
    "lost-other": ["masked_beyond"],
    "shuffle-distance": ["in_place"],
    "shuffle-lane": ["transposed_in_place(warps=1, n=8"],
    "narrow-offset": ["far_elements"],
    "reversed-basis": ["transposed_in_place(warps=1, n=32"],
    "lost-register": ["in_place"],
    "no-owner": ["scalar_in_place"],
    "late-store": ["in_place"],
    "same-shared": ["scalar_in_place", "in_place", "seed_persistent(shape=(1823, 781), programs=1)"],
    "loop-again": ["rounds_through_memory(warps=1, n=32"],
    "carry-old": ["rounds_through_memory(warps=1, n=32"],
    "first-arm": ["wait_for_later", "scalar_in_place"],
    "swap-axes": ["grid_of_three"],
    "wide-vector": ["store_beyond(offset=3"],
}


def run(runner, words, fault):
    environment = dict(os.environ, FSC_PLANT=fault)
    command = [sys.executable, runner, "--device", "emu", "--first", *words]
    r = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return r.returncode, r.stdout + r.stderr


def main():
    runner, table = sys.argv[1:3]
    with open(table, encoding="utf-8") as f:
        names = re.findall(r'^PLANT\(\w+,\s*"([^"]+)"', f.read(), re.M)
    wrong = []
    if set(names) != set(CAUGHT_BY):
        wrong.append(f"rows without cases here, or the other way round: {sorted(set(names) ^ set(CAUGHT_BY))}")
    code, text = run(runner, sorted({w for words in CAUGHT_BY.values() for w in words}), "")
    if code != 0:
        wrong.append(f"without a fault: exit code {code}\n{text}")
    for name in names:
        code, text = run(runner, CAUGHT_BY.get(name, []), name)
        seen = re.search(r"^FAILED .*", text, re.M)
        print(f"{name:18} {seen.group(0)[:140] if seen else 'NOT SEEN'}", flush=True)
        if code != 1 or not seen or "Traceback" in text:
            wrong.append(f"{name}: exit code {code}\n{text}")
    for w in wrong:
        print("plants.py:", w)
    print(f"{len(names)} faults, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
