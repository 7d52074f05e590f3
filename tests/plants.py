#!/usr/bin/env python3
"""plants.py [--racecheck] [--most N] RUN DEF: does the run suite, on emulated threads,
see each planted fault of compiler/base/plant.def?

RUN is tests/run/run.py, with FSC_LIBRARY a libfsc built with -DFSC_PLANTS=ON. Each row of DEF is switched on by itself,
and one of the cases that CAUGHT_BY names must then fail, for a wrong result or a finding and not by a crash; without
any they pass. With --most N these are cases that run.py --most N has: so the quick suite, which is such a part, sees
every fault. The faults that are races in shared memory must show as such in each case of RACES: on emulated threads as
a finding, and with --racecheck on a GPU as a hazard of NVIDIA's compute-sanitizer, which must see none without the
fault.
"""
import argparse
import os
import re
import subprocess
import sys

CAUGHT_BY = {  # fault: words for the cases that see it
    "drop-barrier": ["in_place", "reversed_back"],
    "no-begin": ["cluster_softmax", "cluster_once"],
    "swap-mask": ["store_beyond"],
    "partial-vector": ["softmax_sizes", "arithmetic_float(dtype=fp16, op=+)"],
    "partial-word": ["live_cut(dtype=fp16, n=2049, warps=1"],
    "lost-other": ["masked_beyond"],
    "shuffle-distance": ["in_place"],
    "shuffle-lane": ["transposed_in_place(warps=1, n=8"],
    "narrow-offset": ["far_elements"],
    "reversed-basis": ["transposed_in_place("],
    "lost-register": ["in_place"],
    "no-owner": ["scalar_in_place"],
    "late-store": ["in_place"],
    "part-begin": ["product_batch("],
    "same-shared": ["scalar_in_place", "in_place"],
    "loop-again": ["rounds_through_memory(warps=1, n=32"],
    "carry-old": ["rounds_through_memory(warps=1, n=32"],
    "first-arm": ["wait_for_later", "scalar_in_place"],
    "swap-axes": ["grid_of_three"],
    "wide-vector": ["store_beyond(offset=3"],
    "short-row": ["live_half_empty(n=4353"],
    "rotated-run": ["live_in_place(", "chunked_over_a_cluster"],
    "shared-place": ["remat_levels(dtype=fp16, n=16384"],
    "late-aligned": ["late_norms(file=rmsnorm.dsl, dtype=bf16"],
    "across-end": ["live_strides("],
    "swizzle": ["transposed_in_place(", "product("],
    "stage-index": ["pipeline_rows("],
    "early-read": ["pipeline_short(", "ring_short("],
    "early-copy": ["norms_backward_read_again(file=layernorm_backward.dsl"],
    "no-wait": ["ring_forms("],
    "ring-barrier": ["ring_forms("],
    "ring-stage": ["ring_forms("],
    "ring-read": ["ring_forms("],
    "one-stage": ["cluster_in_a_loop(blocks=2"],
    "turn-stage": ["norms_backward_tiles(file=rmsnorm_backward.dsl"],
    "count-short": ["cluster_once("],
    "count-phase": ["cluster_softmax(blocks=2", "cluster_in_a_loop(blocks=2"],
    "one-half": ["grid_in_a_loop(blocks=16, warps=1"],
    "apart": ["subwarp_own_ways(n=5)"],
    "equal-rotations": ["live_strides("],
    "fragment-place": ["matrix_instruction("],
    "fragment-column": ["matrix_instruction("],
    "matrix-transposed": ["product("],
    "strip-begin": ["product_in_strips("],
    "step-constant": ["product("],
    "step-late": ["product("],
    "tf32-cut": ["product_tf32("],
    "matrix-stride": ["wgmma_majors("],
    "matrix-leading": ["wgmma_majors("],
    "matrix-across": ["wgmma_majors("],
    "group-rows": ["wgmma_warps("],
    "no-fence": ["wgmma_majors("],
    "held-step": ["wgmma_chained("],
    "sum-order": ["wgmma_majors("],
    "sum-early": ["wgmma_stages("],
    "round-late": ["wgmma_stages("],
    "late-round": ["wgmma_late("],
    "bulk-places": ["bulk_blocks("],
    "bulk-wait": ["bulk_masks("],
    "bulk-stage": ["bulk_tiles("],
    "bulk-turn": ["bulk_tiles("],
    "ring-lag": ["wgmma_stages("],
    "ring-across": ["bulk_across("],
    "store-wait": ["bulk_stores("],
}

# two exchanges or more
TWICE = ["norms_far_mean(file=layernorm.dsl, n=781)", "softmax_strides(name=softmax_persistent.dsl, n=781)",
         # in a program of several warps
         "softmax_strides(name=softmax_tiled.dsl, n=1500)"]
RACES = {  # fault: cases, by their whole names
    "drop-barrier": TWICE + ["reduce_rank3(name=sum, axis=1, shape=(16, 16, 8))", "transposed(dtype=fp32, warps=8)"],
    # in loops exchanges take turns, and no barrier guards the next round's
    "same-shared": [TWICE[0], "norms(file=rmsnorm_backward.dsl)"],
    "shared-place": ["remat_levels(dtype=fp16, n=16384)"],
}


def run(runner, words, fault, device="emu", tool=(), most=()):
    environment = dict(os.environ, FSC_PLANT=fault)
    command = [*tool, sys.executable, runner, "--device", device, "--first", *most, *words]
    r = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return r.returncode, r.stdout + r.stderr


def hazards(runner, case, fault):
    """How many racecheck sees in the one case, its own words, and whether the case ran and, without a fault,
    was right."""
    _, text = run(runner, [case], fault, "cuda", ["compute-sanitizer", "--tool", "racecheck"])
    found = re.search(r"RACECHECK SUMMARY: (\d+) hazards?", text)
    right = re.search(r"^1 passed, 0 failed" if not fault else r"^(1 passed, 0|0 passed, 1) failed", text, re.M)
    return int(found.group(1)) if found and right else None, text


def racecheck(runner, names):
    wrong = [f"{fault}: no such row" for fault in RACES if fault not in names]
    for case in dict.fromkeys(case for cases in RACES.values() for case in cases):
        for fault in [""] + [f for f in RACES if case in RACES[f]]:
            n, text = hazards(runner, case, fault)
            good = n is not None and (n > 0) == (fault != "")
            print(f"{fault or 'no fault':13} {case:58} {'no result' if n is None else n} "
                  f"hazards{'' if good else '  WRONG'}", flush=True)
            if not good:
                wrong.append(f"{fault or 'no fault'} in {case}\n{text[-3000:]}")
    return wrong


def emulated_races(runner):
    """By the finding; or by the verifier where a build asks it behind each pass, before anything runs."""
    told = ": shared-race: ", "share bytes while both are alive"
    wrong = []
    for fault, cases in RACES.items():
        for case in cases:
            code, text = run(runner, [case], fault)
            if code != 1 or not any(words in text for words in told) or "0 passed, 1 failed" not in text:
                wrong.append(f"{fault} in {case} is no shared-race: exit code {code}\n{text}")
        print(f"{fault:18} shared-race in {len(cases)} cases", flush=True)
    return wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--racecheck", action="store_true")
    p.add_argument("--most", metavar="N")
    p.add_argument("runner")
    p.add_argument("table")
    o = p.parse_args()
    runner, most = o.runner, ["--most", o.most] if o.most else []
    with open(o.table, encoding="utf-8") as f:
        names = re.findall(r'^PLANT\(\w+,\s*"([^"]+)"', f.read(), re.M)
    if o.racecheck:
        return report(racecheck(runner, names), RACES)
    wrong = emulated_races(runner)
    if set(names) != set(CAUGHT_BY):
        wrong.append(f"rows without cases here, or the other way round: {sorted(set(names) ^ set(CAUGHT_BY))}")
    code, text = run(runner, sorted({w for words in CAUGHT_BY.values() for w in words}), "", most=most)
    if code != 0:
        wrong.append(f"without a fault: exit code {code}\n{text}")
    for name in names:
        code, text = run(runner, CAUGHT_BY.get(name, []), name, most=most)
        seen = re.search(r"^FAILED .*", text, re.M)
        print(f"{name:18} {seen.group(0)[:140] if seen else 'NOT SEEN'}", flush=True)
        if code != 1 or not seen or "Traceback" in text:
            wrong.append(f"{name}: exit code {code}\n{text}")
    return report(wrong, names)


def report(wrong, faults):
    for w in wrong:
        print("plants.py:", w)
    print(f"{len(faults)} faults, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
