# What a row costs in every class of lengths, and how much of it is under way: a row kernel may not get worse unseen.
# For each point: sectors read and written, beside what the elements take at least; instructions an element; and, where
# there is a ptxas, spills and how many bytes of rows the blocks of one multiprocessor of an H200 hold at once, which
# is what hides the latency of memory. Sectors, spills and bytes are compared as they are, instructions to 3 %, as they
# change with LLVM. `rows.py FSC --bless` rewrites the table: look at the difference before you commit it.
# RUN: %python %s fsc
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "run")]
from calls import asked_words, cases  # noqa: E402
from counts import ROOT, profile  # noqa: E402

TABLE = os.path.join(HERE, "..", "Inputs", "rows.txt")
KERNELS = ["softmax", "rmsnorm", "layernorm", "cross_entropy"]
ROWS = 3  # more than the emulated device has multiprocessors: the variant of many rows
# Short rows, rows of a block and of a cluster; whole vectors, and rows that begin anywhere.
LENGTHS = {"bf16": (1, 256, 781, 1023, 1024, 4096, 4097, 8193, 31999, 50257, 65536, 65537),
           "fp32": (781, 1024, 8193, 32768, 65536)}
COLUMNS = ["kernel", "type", "columns", "read", "least", "written", "least", "instructions", "spills", "held"]
SECTOR, GROWTH = 32, 1.03
HEAD = """\
# Written by rows.py --bless; read the difference before you commit it. Of 3 rows: sectors read and written, and those of
# their bytes; instructions of a thread for an element. By ptxas: bytes of spills, and of rows that one multiprocessor
# holds; what a loop copies ahead is not counted (layernorm of 4097 and 8193 in bf16: two rows more a block).
"""


def sectors(total, *kinds):
    return sum(total[k]["sectors"] for k in kinds if k in total)


def on_card(tool, folder, kernel, dtype, columns):
    """What `fsc info --json` prints of a launch of many rows on an H200."""
    source = os.path.join(ROOT, "dsl_examples", kernel + ".dsl")
    words = [w.format(R=4096, N=columns, RN=4096 * columns, T=dtype) for w in cases()[kernel]]
    command = [tool, "info", "--json", "--gpu=h200", source, *asked_words(tool, folder, source, words)]
    return json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=120).stdout)


def point(tool, folder, kernel, dtype, columns):
    p = profile(tool, folder, kernel, cases()[kernel], dtype, ROWS, columns)
    card, total = on_card(tool, folder, kernel, dtype, columns), p["all"]
    held = p["least_read"] // p["blocks"] * card["blocks_per_sm"]
    by_ptxas = [str(card["spill_bytes"]), str(held)] if card["registers_from"] == "ptxas" else ["-", "-"]
    return [kernel, dtype, str(columns), str(sectors(total, "load")), str(-(-p["least_read"] // SECTOR)),
            str(sectors(total, "store")), str(-(-p["least_written"] // SECTOR)),
            f"{total['instructions'] / (ROWS * columns):.2f}", *by_ptxas]


def differences(old, new):
    """What changed of a point, in words."""
    for what, a, b in list(zip(COLUMNS, old, new))[3:]:
        if "-" in (a, b):
            continue
        before, now = float(a), float(b)
        near = max(before, now) <= GROWTH * min(before, now) if what == "instructions" else before == now
        if not near:
            worse = (now > before) != (what == "held")
            yield f"{what} {a} -> {b}, {'worse' if worse else 'better: --bless keeps it so'}"


def layout(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    line = lambda r: "  ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))).rstrip()
    return HEAD + "\n".join(line(r) for r in rows) + "\n"


def main(tool, *options):
    tool = os.path.abspath(tool)
    jobs = [(k, d, n) for k in KERNELS for d, lengths in LENGTHS.items() for n in lengths]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = list(pool.map(lambda j: point(tool, folder, *j), jobs))
    if "--bless" in options:
        assert all("-" not in r for r in counted), "there is no ptxas"
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write(layout([COLUMNS] + counted))
        return 0
    with open(TABLE, encoding="utf-8") as file:
        known = {tuple(l.split()[:3]): l.split() for l in file if not l.startswith("#")}
    wrong = 0
    for row in counted:
        found = list(differences(known[tuple(row[:3])], row)) if tuple(row[:3]) in known else ["is new"]
        wrong += bool(found)
        if found:
            print(f"{' '.join(row[:3])}: {'; '.join(found)}")
    print(f"{len(jobs)} points, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
