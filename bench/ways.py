"""ways.py - what every example's launch takes (registers, spills, shared memory, occupancy), with the cache off,
on, and from disk.

In: `fsc`, the examples of counters.txt. Out: a line for each launch whose ways differ, a tally,
exit status 1 if any differ.
Method: each way is a process of its own, as users have it. `uncached`: neither the cache of fsc nor the driver's.
`first`: both empty. `disk`: both as `first` left them. `ptxas`: what `ptxas` makes of the variant that `fsc profile`
compiles for this card, which is how objects are made ahead of time.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from counters import HERE, cases  # noqa: E402

SHAPES = ["64x781", "16x8192", "4x128256"]
LAUNCHED = ("registers", "spill_bytes", "shared_bytes", "threads_per_block", "blocks_per_sm")
# slow at long rows, or on emulated threads
SMALL = {"attention", "attention_backward", "attention_decode", "sample_top_p", "prefix_sum", "transpose",
         "batched_matvec", "batched_matmul", "grouped_matmul", "matmul", "matmul_dequantize", "matmul_fp8",
         "matmul_fp8_blocks", "matmul_int8", "split_k"}


class Failed(Exception):
    pass


def run(command, folder, **env):
    done = subprocess.run(command, cwd=folder, env={**os.environ, **env}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=180)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()[-600:]}")
    return json.loads(done.stdout)


def launch(o, folder, path, words, **env):
    out = run([o.fsc, "run", "--json", "--device=cuda", "--warmup", "1", "--repeat", "1", path, *words], folder, **env)
    return {key: out[key] for key in LAUNCHED}, out["from_disk"]


def assembled(o, folder, path, words):
    """Registers of the variant that the profile compiles for this card; None where there is no ptxas."""
    card = run([o.fsc, "profile", "--json", "--gpu=" + o.gpu, path,
                *words], folder, FSC_CUDA_LIBRARY="no-driver")["card"]
    return card["registers"] if card["registers_from"] == "ptxas" else None


def ways(o, name, words, dtype, shape):
    """(what differs or is wrong, registers)"""
    rows, cols = map(int, shape.split("x"))
    words = [w.format(R=rows, N=cols, RN=rows * cols, T=dtype) for w in words]
    path = os.path.join(HERE, "..", "dsl_examples", name + ".dsl")
    with tempfile.TemporaryDirectory() as folder:
        kept = {"FSC_CACHE_DIR": os.path.join(folder, "fsc"), "CUDA_CACHE_PATH": os.path.join(folder, "driver")}
        os.mkdir(kept["FSC_CACHE_DIR"], 0o700)
        found = {"uncached": launch(o, folder, path, words, FSC_CACHE_DIR="off", CUDA_CACHE_DISABLE="1"),
                 "first": launch(o, folder, path, words, **kept), "disk": launch(o, folder, path, words, **kept)}
        ptxas = None if cols > o.profiled else assembled(o, folder, path, words)
    wrong = [f"{way}: from_disk is {from_disk}" for way, (_, from_disk) in found.items()
             if from_disk != (way == "disk")]
    reference = found["uncached"][0]
    wrong += [f"{way}: {launched}, not {reference}" for way, (launched, _) in found.items() if launched != reference]
    if ptxas not in (None, reference["registers"]):
        wrong.append(f"ptxas: {ptxas} registers, not {reference['registers']}")
    return wrong, reference["registers"], ptxas is not None


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("kernels", nargs="*", metavar="KERNEL", help="of counters.txt (default: all)")
    p.add_argument("--fsc", default="build/release/fsc")
    p.add_argument("--gpu", default="h200", help="this card, as fsc profile knows it")
    p.add_argument("--dtypes", nargs="+", default=["fp32", "bf16"])
    p.add_argument("--shapes", nargs="+", default=SHAPES, metavar="ROWSxN")
    p.add_argument("--profiled", type=int, default=1024,
                   help="the longest rows that are profiled, too, on emulated threads")
    p.add_argument("--jobs", type=int, default=8)
    o = p.parse_args()
    o.fsc = os.path.abspath(o.fsc)
    table = cases()
    chosen = [(o, name, table[name], dtype, shape) for name in o.kernels or table for dtype in o.dtypes
              for shape in o.shapes
              if shape == o.shapes[0] or name not in SMALL]
    bad = with_ptxas = 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        futures = {pool.submit(ways, *one): one for one in chosen}
        for future in concurrent.futures.as_completed(futures):
            _, name, _, dtype, shape = futures[future]
            try:
                wrong, _, is_assembled = future.result()
                with_ptxas += is_assembled
            except (Failed, subprocess.TimeoutExpired, KeyError, ValueError) as why:
                wrong = [f"{type(why).__name__}: {why}"]
            bad += bool(wrong)
            for line in wrong:
                print(f"{name} {dtype} {shape}: {line}", flush=True)
    print(f"{len(chosen)} launches by three ways, {with_ptxas} of them beside ptxas: {bad} differ")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
