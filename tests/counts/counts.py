# What every example moves and does, counted on emulated threads, is what Inputs/counts.txt says; `counts.py FSC
# --bless` rewrites it. A change that moves more bytes, adds a barrier or a conflict of banks fails here until somebody
# has looked at the difference. Instructions are not in the table: they change with every version of LLVM.
# RUN: %python %s fsc
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
from calls import cases  # noqa: E402

ROOT = os.path.join(HERE, "..", "..")
TABLE = os.path.join(HERE, "Inputs", "counts.txt")
SHAPES = [("fp32", 5, 781), ("fp32", 4, 1024), ("fp16", 4, 1024)]
# Rows of mixed widths, and rows that begin anywhere beside weights that do not: their sectors are those of their bytes
# and of their ends.
LENGTHS = {("quantize_int8", "fp16"): (1000, 4096, 4097, 5120), ("quantize_fp8", "bf16"): (1000, 1024, 4096, 5120),
           ("rmsnorm", "bf16"): (1, 33, 781, 1023, 4097, 8193), ("softmax", "bf16"): (1, 33, 781, 1023, 4097, 8193)}
# its loops end when the values say so: another last digit of exp, and they take another turn
BY_VALUES = {"sample_top_p"}
SPECIAL = ["ex2", "lg2", "rcp", "rsqrt", "sqrt", "div", "exact_div", "exact_sqrt"]
COLUMNS = ["kernel", "type", "shape", "loads", "sectors", "stores", "sectors", "atomics", "sectors", "shared",
           "conflicts", "shuffles", "barriers", "special"]
HEAD = """\
# Written by counts.py --bless; read the difference before you commit it. On two host threads, as the number of programs
# in a block and the grids of persistent kernels depend on it. Requests of warps and their 32-byte sectors, wavefronts
# of shared memory and how many of them are for conflicts of banks, shuffles of warps, barriers of blocks (of clusters
# too), special functions of threads.
"""


def profile(tool, folder, name, words, dtype, rows, cols):
    """The object that `fsc profile --json` prints."""
    words = [w.format(R=rows, N=cols, RN=rows * cols, T=dtype) for w in words]
    command = [tool, "profile", "--json", "--device=emu:2", os.path.join(ROOT, "dsl_examples", name + ".dsl"), *words]
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)


def row(name, dtype, rows, cols, p):
    total, nothing = p["all"], {"requests": 0, "sectors": 0, "wavefronts": 0, "bank_conflicts": 0}
    load, store, atomic = (total.get(k, nothing) for k in ("load", "store", "atomic"))
    shared = [total.get(k, nothing) for k in ("shared_load", "shared_store")]
    threads = p["threads_per_block"]
    numbers = [load["requests"], load["sectors"], store["requests"], store["sectors"], atomic["requests"],
               atomic["sectors"], sum(s["wavefronts"] for s in shared), sum(s["bank_conflicts"] for s in shared),
               total["shuffles"] // 32, (total["block_barriers"] + total["cluster_barriers"]) // threads,
               sum(total[k] for k in SPECIAL)]
    return [name, dtype, f"{rows}x{cols}", *map(str, numbers)]


def layout(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    line = lambda r: "  ".join(c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))).rstrip()
    return HEAD + "\n".join(line(r) for r in rows) + "\n"


def differences(shown, counted):
    """By kernel, type and shape, as the width of a column may have changed."""
    old = {tuple(l.split()[:3]): l.split() for l in shown.splitlines() if not l.startswith("#")}
    new = {tuple(l.split()[:3]): l.split() for l in counted.splitlines() if not l.startswith("#")}
    for key in sorted(set(old) | set(new)):
        if old.get(key) == new.get(key):
            continue
        pairs = zip(COLUMNS, old.get(key, []), new.get(key, []))
        changes = [f"{what} {a} -> {b}" for what, a, b in pairs if a != b]
        yield " ".join(key) + ": " + (", ".join(changes) or ("is new" if key not in old else "is gone"))


def main():
    tool = os.path.abspath(sys.argv[1])
    known = {name for name, _ in cases().items()}
    found = {os.path.relpath(f, os.path.join(ROOT, "dsl_examples"))[:-4]
             for f in glob.glob(os.path.join(ROOT, "dsl_examples", "**", "*.dsl"), recursive=True)}
    assert known == found, f"bench/counters.txt and dsl_examples/ differ in {sorted(known ^ found)}"
    jobs = [(name, words, *shape) for name, words in cases().items() for shape in SHAPES if name not in BY_VALUES]
    jobs += [(name, cases()[name], dtype, 4, cols) for (name, dtype), lengths in LENGTHS.items() for cols in lengths]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = list(pool.map(lambda j: profile(tool, folder, *j), jobs))
    text = layout([COLUMNS] + [row(name, *shape, p) for (name, _, *shape), p in zip(jobs, counted)])
    if "--bless" in sys.argv:
        open(TABLE, "w", encoding="utf-8").write(text)
        return 0
    wrong = list(differences(open(TABLE, encoding="utf-8").read(), text))
    print("\n".join(wrong + [f"{len(jobs)} cases, {len(wrong)} differ"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
