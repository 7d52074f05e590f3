#!/usr/bin/env python3
"""counters.py --fsc bin/fsc [--ncu ncu] [--dtype fp32] [--shapes 64x781,64x4096] [--out FILE.csv] [KERNEL ...]

What `fsc profile` counts on emulated threads, beside what Nsight Compute counts on this machine's GPU: every KERNEL of
counters.txt (default: ten of them) in every shape. Prints a table, metric by metric, with the ratio measured / counted;
--out writes it as CSV.

Needs ncu, python3 and permission to read the counters. Each case is one launch (`fsc run --warmup 0 --repeat 1`) under
ncu. The emulator gets as many host threads as the GPU has multiprocessors, as programs share blocks, and persistent
kernels choose their grid, by that number. Metrics that this ncu does not know are left out and named.
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEN = ["softmax", "softmax_tiled", "softmax_columns", "layernorm", "rmsnorm", "log_softmax", "add", "transpose",
       "quantize_int8", "prefix_sum"]


def of(kind, what):
    return lambda p: p["all"].get(kind, {}).get(what, 0)


def of_all(*whats):
    return lambda p: sum(p["all"][w] for w in whats)


def of_params(what):
    return lambda p: sum(q[what] for q in p["params"])


# (name in the table, ncu's metric, the count)
METRICS = [
    ("load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", of("load", "requests")),
    ("load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", of("load", "sectors")),
    ("store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", of("store", "requests")),
    ("store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", of("store", "sectors")),
    ("shared load wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", of("shared_load", "wavefronts")),
    ("shared store wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
     of("shared_store", "wavefronts")),
    ("shared load conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
     of("shared_load", "bank_conflicts")),
    ("shared store conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
     of("shared_store", "bank_conflicts")),
    ("shuffles, by lanes", "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",
     of_all("shuffles")),
    ("thread instructions", "smsp__thread_inst_executed.sum", of_all("instructions")),
    ("bytes from memory", "dram__bytes_read.sum", of_params("read_once")),
    ("bytes to memory", "dram__bytes_write.sum", of_params("written_once")),
]


def cases():
    with open(os.path.join(HERE, "counters.txt"), encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {name: words for name, *words in lines}


def run(command, folder, seconds=300):
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=seconds)
    return done.returncode, done.stdout, done.stderr


def known_metrics(ncu):
    """Those of METRICS that this ncu has; all of them where it cannot say."""
    code, out, _ = run([ncu, "--query-metrics"], ".")
    names = {line.split()[0] for line in out.splitlines() if line.strip()}
    if code or len(names) < 100:
        return METRICS
    for name, metric, _ in METRICS:
        if metric.rsplit(".", 1)[0] not in names:
            print(f"ncu has no {metric}: '{name}' is left out", file=sys.stderr)
    return [m for m in METRICS if m[1].rsplit(".", 1)[0] in names]


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


SCALES = {"byte": 1, "kbyte": 1e3, "mbyte": 1e6, "gbyte": 1e9, "kibyte": 2**10, "mibyte": 2**20, "gibyte": 2**30}


def parse(text, kernel):
    """{metric: value} of this kernel in ncu's CSV, in either of its forms: a row a metric, or a row a kernel with a row
    of units. Launches are summed."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return {}
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    found, units = {}, {}
    for row in rows:
        if (row.get("ID") or "").strip() and kernel not in (row.get("Kernel Name") or kernel):
            continue
        if row.get("Metric Name"):
            pairs = [(row["Metric Name"], row.get("Metric Value") or "", row.get("Metric Unit") or "")]
        elif not (row.get("ID") or "").strip():
            units = row
            continue
        else:
            pairs = [(k, v or "", units.get(k) or "") for k, v in row.items() if k and "__" in k]
        for metric, value, unit in pairs:
            x = number(value)
            if x is not None:
                found[metric] = found.get(metric, 0) + x * SCALES.get(unit.lower(), 1)
    return found


def measure(o, metrics, folder, path, words, kernel, options=()):
    command = [o.ncu, *options, "--csv", "--page", "raw", "--print-units", "base", "--target-processes", "all",
               "--metrics", ",".join(m for _, m, _ in metrics), o.fsc, "run", "--device=cuda", "--warmup", "0",
               "--repeat", "1", path, *words]
    code, out, err = run(command, folder)
    values = parse(out, kernel)
    if values:
        return values
    print(f"ncu gave nothing (exit {code}):\n{out[-1500:]}\n{err[-1500:]}", file=sys.stderr)
    sys.exit(3)


def count(o, folder, path, words):
    command = [o.fsc, "profile", "--json", f"--device=emu:{o.sms}", path, *words]
    code, out, err = run(command, folder)
    if code:
        sys.exit(f"{' '.join(command)}: exit {code}\n{err}")
    return json.loads(out)


def compare(o, metrics, name, words, shape):
    """Rows (kernel, shape, metric, counted, measured) of one case."""
    rows, cols = map(int, shape.split("x"))
    words = [w.format(R=rows, N=cols, RN=rows * cols, T=o.dtype) for w in words]
    path = os.path.join(HERE, "..", "dsl_examples", name + ".dsl")
    with tempfile.TemporaryDirectory() as folder:
        counted = count(o, folder, path, words)
        measured = measure(o, metrics, folder, path, words, counted["kernel"])
    return [(name, shape, what, get(counted), measured.get(metric)) for what, metric, get in metrics]


def multiprocessors(fsc):
    code, out, err = run([fsc, "info", os.path.join(HERE, "..", "dsl_examples", "add.dsl"), "--arch=native", "--json"],
                         ".")
    if code:
        print(f"no GPU here: {err.strip()}", file=sys.stderr)
        sys.exit(3)
    return json.loads(out)["sms"]


def self_test():
    """The two forms of ncu's CSV, with what it prints around them."""
    long = ('==PROF== x\n"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
            '"0","k","a__b.sum","sector","1,024"\n"1","k","a__b.sum","sector","6"\n'
            '"2","fill","a__b.sum","sector","9"\n')
    wide = ('k: 1 ms\n"ID","Kernel Name","a__b.sum","dram__x.sum"\n"","","sector","Kbyte"\n"0","k","1030","2.5"\n'
            '"1","fill","7","7"\n')
    assert parse(long, "k") == {"a__b.sum": 1030}, parse(long, "k")
    assert parse(wide, "k") == {"a__b.sum": 1030, "dram__x.sum": 2500}, parse(wide, "k")
    assert parse("nothing", "k") == {}
    assert set(TEN) <= set(cases())
    print("counters self-test: fine")


def main():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("kernels", nargs="*", metavar="KERNEL")
    a.add_argument("--fsc", default="build/release/fsc")
    a.add_argument("--ncu", default="ncu")
    a.add_argument("--dtype", default="fp32")
    a.add_argument("--shapes", default="64x781,64x1024,64x4096")
    a.add_argument("--out")
    a.add_argument("--self-test", action="store_true")
    o = a.parse_args()
    if o.self_test:
        return self_test()
    o.fsc = os.path.abspath(o.fsc)
    o.sms = multiprocessors(o.fsc)
    table, metrics = cases(), known_metrics(o.ncu)
    rows = []
    for name in o.kernels or TEN:
        if name not in table:
            sys.exit(f"no kernel '{name}' in counters.txt; known are {', '.join(table)}")
        for shape in o.shapes.split(","):
            rows += compare(o, metrics, name, table[name], shape)
    print(f"{'kernel':20} {'shape':10} {'metric':26} {'counted':>14} {'measured':>14} {'ratio':>8}")
    for name, shape, what, counted, measured in rows:
        ratio = "" if measured is None or not counted else f"{measured / counted:.3f}"
        shown = "-" if measured is None else f"{measured:.0f}"
        print(f"{name:20} {shape:10} {what:26} {counted:14} {shown:>14} {ratio:>8}")
    if o.out:
        with open(o.out, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("kernel", "shape", "metric", "counted", "measured"), *rows])


if __name__ == "__main__":
    main()
