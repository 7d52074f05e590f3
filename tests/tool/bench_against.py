# fsc bench --csv, --against and --roof: the columns, an earlier run found point by point whatever its order, changes
# told from noise by the samples' quartiles, the share of a copy; and each file that is no such run.
# RUN: rm -rf %t && mkdir %t && %python %s fsc %t %examples
import csv
import io
import json
import os
import re
import subprocess
import sys

TOOL, FOLDER, SOFTMAX = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.join(os.path.abspath(sys.argv[3]), "softmax.dsl")
os.chdir(FOLDER)
CALL = (SOFTMAX, "--axis", "n_cols=64,128", "--axis", "n_rows=3,5", "--dtype=fp32,fp16", "--device=cpu", "--repeat=9")


def bench(*words, status=0):
    done = subprocess.run([TOOL, "bench", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (words, done)
    return done


def write(name, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


text = bench(*CALL, "--csv").stdout
rows = list(csv.reader(io.StringIO(text)))
head = "n_cols,n_rows,dtype,num_warps,bytes,milliseconds,low_milliseconds,high_milliseconds,gigabytes_per_second,device"
assert rows[0] == head.split(",") and len(rows) == 9, rows
assert [row[:5] for row in rows[1:5]] == [[str(n), str(m), "fp32", "", str(8 * n * m)] for m in (3, 5) for n in (64, 128)]
for row in rows[1:]:
    median, low, high, rate = map(float, row[5:9])
    assert 0 < low <= median <= high and row[9] == "cpu", row
    assert abs(rate - int(row[4]) / median * 1e-6) <= 0.02 * rate + 0.001, row


def earlier(scale, low=0.999, high=1.001):
    return [[*row[:5], *("%.9f" % (float(row[5]) * scale * by) for by in (1, low, high)), *row[8:]] for row in rows[1:]]


# What is a million times slower or faster is that; what spans all that can be is alike; what is missing is new.
write("slow.csv", [rows[0], *reversed(earlier(1e6))])
done = bench(*CALL, "--against=slow.csv").stdout.splitlines()
assert re.match(r" +n_cols +n_rows +dtype +warps +ms +GB/s +before +change +on cpu, median of 9$", done[0]), done
assert all(line.endswith(" -100.0 %") for line in done[1:9]), done
assert done[9] == "against slow.csv: 8 faster, 0 slower, 0 alike, 0 new", done
write("fast.csv", [rows[0], *earlier(1e-4)[3:]])
done = bench(*CALL, "--against=fast.csv").stdout.splitlines()
assert [line.split()[-1] for line in done[1:4]] == ["new"] * 3 and done[9].endswith(": 0 faster, 5 slower, 0 alike, 3 new")
assert all(float(line.split()[-2]) > 1000 and "~" not in line for line in done[4:9]), done
write("wide.csv", [rows[0], *earlier(1, 1e-6, 1e6)])
done = bench(*CALL, "--against=wide.csv").stdout.splitlines()
assert all(" ~ " in line for line in done[1:9]) and done[9].endswith(": 0 faster, 0 slower, 8 alike, 0 new"), done
with open("own.csv", "w", encoding="utf-8") as file:
    file.write(text.replace("\n", "\r\n"))
again = list(csv.DictReader(io.StringIO(bench(*CALL, "--against=own.csv", "--csv", "--roof").stdout)))
assert [row["before_milliseconds"] for row in again] == [row[5] for row in rows[1:]], again
for row in again:
    share = float(row["gigabytes_per_second"]) / float(row["copy_gigabytes_per_second"])
    assert abs(share - float(row["share_of_copy"])) <= 0.02 * share + 1e-3, row
points = json.loads(bench(*CALL, "--against=fast.csv", "--json", "--roof").stdout)["points"]
assert ["before_milliseconds" in p for p in points] == [False] * 3 + [True] * 5
assert all(p["copy_gigabytes_per_second"] > 0 for p in points)
done = bench(*CALL, "--roof").stdout.splitlines()
assert "of copy" in done[0] and all(re.search(r" \d+ %$", line) for line in done[1:]), done

# Another device is said; what is no such file is refused with what to give.
write("else.csv", [rows[0], *([*row[:9], "NVIDIA, of another name"] for row in rows[1:])])
assert "else.csv was measured on NVIDIA, of another name, and this is cpu" in bench(*CALL, "--against=else.csv").stderr
write("other.csv", [["N", *rows[0][1:]], *rows[1:]])
for name, says in (("other.csv", "it has no column 'n_cols'; give what fsc bench --csv wrote for these axes"),
                   ("none.csv", "cannot open 'none.csv'")):
    assert says in bench(*CALL, "--against=" + name, status=1).stderr
for bad in (rows[1][:-1], [*rows[1][:5], "x", *rows[1][6:]]):
    write("bad.csv", [rows[0], rows[2], bad])
    assert "bad.csv: line 3 is none that fsc bench --csv wrote" in bench(*CALL, "--against=bad.csv", status=1).stderr
assert "--csv or --json, not both" in bench(*CALL, "--csv", "--json", status=2).stderr
