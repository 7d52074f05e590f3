#!/usr/bin/env python3
"""compiletime.py - what a compile of softmax.dsl takes, over lengths and types, and what its code takes:
compiletime.py [N …]. No GPU.

In: rows of N, as the JIT would compile them for an H200: the variant,
its bounds and alignments are those that `fsc info` reports.
Out: a table: milliseconds from source to PTX in this process (fastest and median), registers and spilled bytes by
ptxas. Exit status 1 if a variant spills, or where --bounds asks for it takes longer than the project wants.
"""
import argparse
import ctypes as c
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "run"))

import fsc  # noqa: E402

LENGTHS = (64, 256, 781, 1024, 4096, 4097, 8192, 8193, 12672, 16384, 32000, 32768, 50257, 65536, 128256, 131072, 262144,
           524288, 1 << 20)
WANTED = ((16384, 12.0), (1 << 20, 30.0))  # milliseconds up to this length
KERNEL = os.path.join(ROOT, "dsl_examples", "softmax.dsl")


def find_tool():
    for place in ("build/release/fsc", "bin/fsc"):
        if os.path.exists(os.path.join(ROOT, place)):
            return os.path.join(ROOT, place)
    sys.exit("compiletime: no fsc in build/release or bin: build it first, or name it with --tool")


def variant_of(tool, n, dtype):
    """What `fsc info` says of the variant for rows of n."""
    words = ["info", KERNEL, "--gpu=h200", "--json", "-T", f"T={dtype}", "n_rows=4096", f"n_cols={n}", f"x_stride={n}",
             f"y_stride={n}"]
    return json.loads(subprocess.run([tool, *words], check=True, capture_output=True, text=True).stdout)


def pairs(items):
    made = [fsc.NameValue(name.encode(), value.encode()) for name, value in items]
    return (fsc.NameValue * max(1, len(made)))(*made), len(made)


def options_for(variant, n, dtype):
    """The compile's options as the JIT sets them, and what must live as long as they do."""
    bounds = [(name + sign, str(at)) for name, ends in variant.get("bounds", {}).items()
              for sign, at in zip("><", ends)]
    known = ("x", "y", "n_rows", *(("x_stride", "y_stride", "n_cols") if n % 16 == 0 else ()))
    kept = (pairs([("BLOCK", variant["constexpr"]["BLOCK"]), *bounds]), pairs([("T", dtype)]),
            pairs([(name, "16") for name in known]))
    o = fsc.CompileOptions()
    fsc.lib.fsc_compile_options_init(c.byref(o))
    o.file, o.arch = b"softmax.dsl", b"sm_90"
    (o.defines, o.num_defines), (o.types, o.num_types), (o.divisible, o.num_divisible) = kept
    return o, kept


def compile_once(o, text):
    """Milliseconds from source to PTX."""
    made = c.c_void_p()
    start = time.perf_counter()
    status = fsc.lib.fsc_compile(c.byref(o), text, c.c_size_t(len(text)), c.byref(made))
    ms = (time.perf_counter() - start) * 1e3
    fsc.lib.fsc_compilation_destroy(made)
    fsc.check(status, b"softmax.dsl does not compile")
    return ms


def main(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("lengths", nargs="*", type=int, default=LENGTHS)
    p.add_argument("--dtype", nargs="+", default=["fp32", "fp16", "bf16"])
    p.add_argument("--repeat", type=int, default=9)
    p.add_argument("--tool", help="the command fsc (default: build/release/fsc or bin/fsc)")
    p.add_argument("--bounds", action="store_true", help="fail where the fastest compile takes longer than wanted")
    o = p.parse_args(argv)
    with open(KERNEL, "rb") as f:
        text = f.read()
    failed = 0
    print("| N | type | BLOCK | ms, fastest | median | registers | spilled bytes | threads |\n| --- | --- | --- | --- "
          "| --- | --- | --- | --- |")
    for n in o.lengths:
        for dtype in o.dtype:
            variant = variant_of(o.tool or find_tool(), n, dtype)
            options, _kept = options_for(variant, n, dtype)
            times = [compile_once(options, text) for _ in range(o.repeat)]
            threads = f"{variant['threads_per_block']} × {variant['blocks_per_program']}"
            late = o.bounds and min(times) > next(ms for most, ms in WANTED if n <= most)
            failed += bool(variant.get("spill_bytes")) or late
            print(f"| {n} | {dtype} | {variant['constexpr']['BLOCK']} | {min(times):.1f}{' LATE' if late else ''} | "
                  f"{statistics.median(times):.1f} | "
                  f"{variant['registers']} ({variant['registers_from']}) | {variant.get('spill_bytes', '—')} | "
                  f"{threads} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
