# The tables of docs/reference/results.md are what docs/bench/ratios.csv says. From made runs, whole and with
# points, peers and ways of timing missing, the tables are what they must be; a number changed by hand is found.
# RUN: %python %bench/page.py --check %bench/../docs/bench/ratios.csv %bench/../docs/reference/results.md
# RUN: rm -rf %t && mkdir %t && %python %s %bench %t
import os
import subprocess
import sys

bench, folder = sys.argv[1:]
sys.path.insert(0, bench)
from points import SETS  # noqa: E402

csv, page = os.path.join(folder, "run.csv"), os.path.join(folder, "page.md")
TABLES = ("run", "standing", "sweep", "lengths", "others", "cliffs", "few", "kernels", "aims")
MADE = ("tutorial", "whole", "anywhere", "backward", "mixed", "columns", "cliffs", "few", "kernels")
EMPTY = "".join(f"# {name}\n<!-- table: {name} -->\n<!-- end -->\nkept\n" for name in TABLES)


def made():
    """(set, kernel, rows, n, dtype, mode, peer, ms) of a run where fsc has 0.96 of copy, and 1.2 of the best peer."""
    for name in MADE:
        for p in SETS[name].points:
            for mode in ("flush", "graph"):
                for peer, ms in (("copy", 0.96), ("copy_kernel", 1), ("fsc", 1), ("torch", 2), ("triton_row", 1.2),
                                 ("quack", 1.3)):
                    yield [name, p.kernel, p.rows, p.n, p.dtype, mode, peer, ms]


def run(*options, rows=tuple(made()), old=EMPTY):
    """(exit status, what it said, the page) of page.py over these rows, each of which moves 100 MB."""
    with open(csv, "w", encoding="utf-8") as f:
        f.write("set,kernel,rows,n,dtype,mode,peer,samples,ms,gbps,of_copy\n")
        f.writelines(",".join(map(str, [*row[:7], 30, row[7], f"{100 / row[7]:.6g}", ""])) + "\n" for row in rows)
    with open(page, "w", encoding="utf-8") as f:
        f.write(old)
    command = [sys.executable, os.path.join(bench, "page.py"), *options, csv, page]
    done = subprocess.run(command, capture_output=True, text=True)
    with open(page, encoding="utf-8") as f:
        return done.returncode, done.stderr, f.read()


def holds(text, *wanted):
    for line in wanted:
        assert line in text, (line, text)


status, said, whole = run()
assert (status, said) == (0, ""), said
count = sum(len(SETS[name].points) for name in MADE)
holds(whole, f"{count} of {count} points; {2 * count} measurements of fsc, each beside up to 5 others.",
      "not measured: none.",
      "| tutorial | softmax fp32 | 98 | 0.960, 0.960 | 0.960, 0.960 | 1.200, 1.200 | 1.200, 1.200 |",
      "| 1024 | 104 | 100 | 83 | 77 | 50 | 0.960 | 1.200 |",
      f"| softmax bf16 | {' | '.join(['0.96'] * 12)} |", f"| softmax bf16 | {' | '.join(['1.30'] * 12)} |",
      "| rmsnorm_fp8 16384 × 4096 bf16 | 104 | 100 | 83 Triton row | 0.96, 0.96 | 1.20, 1.20 |",
      "| 4096 × 4097 fp32 | 104 | 100 | 83 Triton row | 0.96, 0.96, 0.96 | 1.20, 1.20, 1.20 |",
      "| 4096 × 4097 fp32 | 0.96, 0.96, 0.96 | 1.20, 1.20, 1.20 |",
      "| 8 × 32768 fp32 | 104 | 100 | 83 Triton row | 0.96, 0.96 | 1.20, 1.20 |",
      "| tutorial | 0.99 of copy, geometric mean | 0.960 | 0.960 |",
      "| 0.95 of copy, N >= 512 | 96 of 96 | 96 of 96 |")
assert whole.count("\nkept\n") == len(TABLES)

# A number changed by hand is found, the page is left alone, and written anew it is as it was.
wrong = whole.replace("| 1024 | 104", "| 1024 | 105")
status, said, after = run("--check", old=wrong)
assert status == 1 and "is not what run.csv says: run bench/page.py" in said and after == wrong, (status, said)
assert run(old=wrong) == (0, "", whole) and run("--check", old=whole) == (0, "", whole)


# Missing: the graphs of a set, a length of the sweep, a neighbour, a point's copy, a point's peers.
def lost(name, kernel, rows, n, dtype, mode, peer, ms):
    if name == "few":
        return mode == "graph" or (rows, n) == (1, 32768) and peer.startswith("copy")
    if (kernel, rows, n, dtype) == ("gelu", 8192, 4096, "fp32"):
        return peer in ("torch", "triton_row")
    return (name, n) in (("tutorial", 1024), ("cliffs", 4096))


status, said, after = run(rows=[row for row in made() if not lost(*row)])
assert status == 0, said
holds(after, f"{count - 2} of {count} points; {2 * count - 16} measurements",
      "not measured: 1 of `tutorial`, 1 of `cliffs`.",
      "| few | softmax fp32 | 12 | 0.960, 0.960 | — | 1.200, 1.200 | — |",
      "| 1 × 32768 fp32 | — | 100 | 83 Triton row | —, — | 1.20, — |",
      "| 4096 × 4097 fp32 | 104 | 100 | 83 Triton row | —, 0.96, 0.96 | —, 1.20, 1.20 |",
      "| 4096 × 4097 fp32 | —, 0.96, 0.96 | —, 1.20, 1.20 |",
      "| gelu 8192 × 4096 | 104 | 100 | 77 QuACK | 0.96, 0.96 | 1.30, 1.30 |",
      "| gelu 8192 × 4096 | 104 | 100 | 83 Triton row | 0.96, 0.96 | 1.20, 1.20 |")
assert "\n| 1024 | 104" not in after

# Slow points are below their aims, against the best peer beyond 1 %. A copy that our own kernel beats by far is none.
slow = {("tutorial", 512, "fsc"): 1.1, ("tutorial", 640, "triton_row"): 0.995, ("tutorial", 768, "triton_row"): 0.98}
slow[("few", 32768, "copy")] = 1.5
rows = [[*row[:7], slow.get((row[0], row[3], row[6]), row[7])] for row in made()]
holds(run(rows=rows)[2], "| 0.95 of copy, N >= 512 | 95 of 96 | 95 of 96 |",
      "| tutorial | 0.95 of copy, N >= 512 | 4096 × 512 fp32 | 0.873, 0.873 |",
      "| 1.00 of the best peer, every N | 97 of 98 | 97 of 98 |",
      "| tutorial | 1.00 of the best peer, every N | 4096 × 768 fp32 | 0.980, 0.980 |",
      "| 8 × 32768 fp32 | 100 | 100 | 83 Triton row | 1.00, 1.00 | 1.20, 1.20 |")

# A page that lost a table says so; where nothing was measured the tables are empty.
status, said, _ = run(old=EMPTY.replace("<!-- table: few -->", ""))
assert status == 1 and "has no table few" in said, said
status, said, after = run(rows=[])
assert status == 0 and "0 of 0 points; 0 measurements" in after and "| tutorial |" not in after, said
