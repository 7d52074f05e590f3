#!/usr/bin/env python3
"""door.py - what fsc.triton costs beside Triton: import to the first result, a launch, autotuning.

Out: a table on standard output, the two packages beside each other. Method: each row of each package is a process of
its own, RUNS times in turns, its caches in a folder of its own, empty the first time (`cold`) and as that process left
it the second (`warm`); medians. The import counts from behind torch's own, with a context on the device, to the
result of a first launch that was waited for. A launch is that of 6 arguments, back to back, each timed alone, the queue
emptied every 64. Autotuning is a softmax over 12 configurations, with their compiles.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = next((place for place in (os.path.join(HERE, p) for p in ("../runtime/python", "../share/fsc/python"))
                 if os.path.isdir(place)), "")
KERNELS = """
{imports}

@triton.jit
def scaled_sum(x, y, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) * factor + tl.load(y + i, mask=mask), mask=mask)


@triton.autotune(configs=[triton.Config({{"PER": per}}, num_warps=warps)
                          for per in (1, 2, 4) for warps in (1, 2, 4, 8)], key=["n_cols"])
@triton.jit
def softmax(out, x, n_rows, n_cols, PER: tl.constexpr, BLOCK: tl.constexpr):
    for k in range(PER):
        row = tl.program_id(0) * PER + k
        i = tl.arange(0, BLOCK)
        mask = (i < n_cols) & (row < n_rows)
        v = tl.load(x + row * n_cols + i, mask=mask, other=-float("inf"))
        e = tl.exp(v - tl.max(v, 0))
        tl.store(out + row * n_cols + i, e / tl.sum(e, 0), mask=mask)
"""
IMPORTS = {"fsc": "import fsc.triton as triton\nimport fsc.triton.language as tl",
           "triton": "import triton\nimport triton.language as tl"}


# ---- In a process of its own -----------------------------------------------------------------------------------------


def kernels(package, folder):
    """The module with the kernels, from a file, as Triton wants it."""
    path = os.path.join(folder, package + "_kernels.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(KERNELS.format(imports=IMPORTS[package]))
    sys.path[:0] = [folder, PACKAGES]
    return __import__(package + "_kernels")


def first(torch, package, folder, device, wait):
    x = torch.arange(1000, dtype=torch.float32, device=device)
    out = torch.empty_like(x)
    wait()
    start = time.perf_counter()
    kernels(package, folder).scaled_sum[(4,)](x, x, out, 1000, 2.0, BLOCK=256)
    wait()
    seconds = time.perf_counter() - start
    return seconds, bool((out == 3 * x).all())


def launch(torch, package, folder, device, wait):
    kernel, calls = kernels(package, folder).scaled_sum, 20000
    x = torch.arange(1000, dtype=torch.float32, device=device)
    out = torch.empty_like(x)
    times = []
    for i in range(calls + 100):
        start = time.perf_counter()
        kernel[(4,)](x, x, out, 1000, 2.0, BLOCK=256)
        times.append(time.perf_counter() - start)
        if i % 64 == 0:
            wait()
    wait()
    return statistics.median(times[100:]), bool((out == 3 * x).all())


def tune(torch, package, folder, device, wait):
    kernel = kernels(package, folder).softmax
    x = torch.randn(4096, 1000, device=device)
    out = torch.empty_like(x)
    wait()
    start = time.perf_counter()
    kernel[lambda meta: (-(-4096 // meta["PER"]),)](out, x, 4096, 1000, BLOCK=1024)
    wait()
    seconds = time.perf_counter() - start
    return seconds, bool((out - torch.softmax(x, 1)).abs().max() < 1e-6)


ROWS = {"first": (first, "import to first result, s", 1), "launch": (launch, "launch of 6 arguments, µs", 1e6),
        "tune": (tune, "autotuning over 12 configurations, s", 1)}


def child(row, package, folder, device):
    import torch
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    torch.zeros(1, device=device)
    seconds, is_right = ROWS[row][0](torch, package, folder, device, wait)
    if not is_right:
        sys.exit(f"{package}: the result of {row} is wrong")
    print(seconds)


# ---- All of them -----------------------------------------------------------------------------------------------------


def run(row, package, folder, device):
    """Seconds, or None, with the reason on the screen."""
    places = {"FSC_CACHE_DIR": folder + "/fsc", "TRITON_CACHE_DIR": folder + "/triton",
              "CUDA_CACHE_PATH": folder + "/driver"}
    process = subprocess.run([sys.executable, __file__, "--child", row, package, folder, "--device", device],
                             env={**os.environ, **places}, capture_output=True, text=True)
    if process.returncode == 0:
        return float(process.stdout.split()[-1])
    print(f"{package}, {row}: {(process.stderr.strip().splitlines() or ['?'])[-1]}", file=sys.stderr)
    return None


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: fsc alone, to try the program")
    words.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS)
    words.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    o = words.parse_args()
    if o.child:
        return child(*o.child, o.device)
    packages = ["fsc", "triton"] if o.device == "cuda" else ["fsc"]
    found = {}
    for i in range(o.runs):
        for row in o.rows:
            for package in packages[i % len(packages):] + packages[:i % len(packages)]:
                with tempfile.TemporaryDirectory() as folder:
                    for state in ("cold", "warm"):
                        found.setdefault((row, state, package), []).append(run(row, package, folder, o.device))
    print("| | cache | fsc.triton | Triton | fsc / Triton |\n| --- | --- | --- | --- | --- |")
    for row, (_, name, unit) in ((row, ROWS[row]) for row in o.rows):
        for state in ("cold", "warm") if row != "launch" else ("warm",):
            numbers = [statistics.median(t) * unit if t and None not in t else None
                       for t in (found.get((row, state, p)) for p in ("fsc", "triton"))]
            ratio = f"{numbers[0] / numbers[1]:.3f}" if all(numbers) else "–"
            print(f"| {name} | {state} | " + " | ".join("–" if n is None else f"{n:.3g}" for n in numbers) +
                  f" | {ratio} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
