# The tables of docs/performance.md are what docs/bench/ratios.csv says. The same program takes a run that had no time for
# some points, peers and ways of timing, and finds a number that was changed by hand.
# RUN: %python %bench/page.py --check %bench/../docs/bench/ratios.csv %bench/../docs/performance.md
# RUN: rm -rf %t && mkdir %t && %python %s %bench %t
import os
import subprocess
import sys

bench, folder = sys.argv[1:]
docs = os.path.join(bench, "..", "docs")
csv, page = os.path.join(folder, "run.csv"), os.path.join(folder, "page.md")
with open(os.path.join(docs, "bench", "ratios.csv"), encoding="utf-8") as f:
    lines = f.read().splitlines(True)
with open(os.path.join(docs, "performance.md"), encoding="utf-8") as f:
    text = f.read()


def run(*options, kept=lambda row: True, old=text):
    """(exit status, what it said, the page) of page.py over the lines of the CSV that are kept."""
    with open(csv, "w", encoding="utf-8") as f:
        f.writelines(lines[:1] + [line for line in lines[1:] if kept(line.rstrip("\n").split(","))])
    with open(page, "w", encoding="utf-8") as f:
        f.write(old)
    command = [sys.executable, os.path.join(bench, "page.py"), *options, csv, page]
    done = subprocess.run(command, capture_output=True, text=True)
    with open(page, encoding="utf-8") as f:
        return done.returncode, done.stderr, f.read()


# A number changed by hand is found, the page is left alone, and written anew it is as it was.
number = "| 4096 × 50257 fp16 | "
assert number in text
wrong = text.replace(number, number + "1")
status, said, after = run("--check", old=wrong)
assert status == 1 and "is not what run.csv says: run bench/page.py" in said and after == wrong, (status, said)
assert run(old=wrong) == (0, "", text)

# Another run: a set without graphs, a set without points, a length of the sweep, a point's copy, a point's peers are missing.
status, said, after = run(kept=lambda row: not (
    (row[0] == "few" and row[5] == "graph") or row[0] == "batch" or (row[0], row[3]) == ("tutorial", "1024")
    or (row[0:4] == ["few", "softmax", "1", "32768"] and row[6].startswith("copy"))
    or (row[0:5] == ["kernels", "gelu", "8192", "4096", "fp32"] and not row[6].startswith(("copy", "fsc")))))
assert status == 0, said
for wanted in ("409 of 433 points; 808 measurements of fsc", "1 of `tutorial`, 3 of `cliffs`",
               "| few | softmax fp32 | 10 | 0.714, 0.567 | — | ", "| 1 × 32768 fp32 | — | 43 | 31 Triton row | —, — | 1.40, — |",
               "| gelu 8192 × 4096 | 4008 | 3926 | — | 0.98, 0.99 | —, — | 3691 |"):
    assert wanted in after, (wanted, after)
assert "| 1024 | 2473" in text and "| 1024 | 2473" not in after and "| batch |" not in after

# A copy of the driver's that our own beats by far is no measure: the kernel's rate counts.
slow = "cliffs,softmax,1823,781,fp32,flush,copy,30,1000,1,1\n"
lines[next(i for i, line in enumerate(lines) if line.startswith(slow[:39]))] = slow
own = next(line for line in lines if line.startswith("cliffs,softmax,1823,781,fp32,flush,copy_kernel,"))
assert f"| 1823 × 781 fp32 | {float(own.split(',')[9]):.0f} |" in run()[2]

# A page that lost a table says so; nothing measured is a page without rows.
status, said, _ = run(old=text.replace("<!-- table: few -->", ""))
assert status == 1 and "has no table few" in said, said
status, said, after = run(kept=lambda row: False)
assert status == 0 and "0 of 0 points; 0 measurements" in after and "| tutorial |" not in after, said
