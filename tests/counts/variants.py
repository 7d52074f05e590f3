# Whoever compiles for a launch compiles the same: of every example `fsc info`, `fsc profile` and a launch give the
# driver one text of PTX, byte for byte, and so one number of registers; the page of `fsc viz` shows it beside tile IR
# with vectors of the same widths. One shape of each example, by turns; --others: all but that (more/variants.test). The
# driver is the one without a GPU, which keeps what it loads; there is no ptxas, so that all goes through it.
# RUN: env FSC_PTXAS=%t.none FSC_CUDA_LIBRARY=%fakecuda %python %s fsc
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(HERE, "..", "run"), os.path.join(HERE, "..", "tool", "Inputs")]
from calls import asked_words, cases  # noqa: E402
from vizfacts import Page  # noqa: E402

SMALL = [("fp32", 3, 200), ("bf16", 2, 257)]   # with a page, whose programs make no more values than it takes
LONG = [("bf16", 4, 1000), ("fp32", 2, 12288)]  # whole vectors of one type alone; few programs
BYTES = {"i1": 1, "i8": 1, "u8": 1, "fp8e4nv": 1, "fp8e5": 1, "i16": 2, "fp16": 2, "bf16": 2, "i32": 4, "fp32": 4,
         "i64": 8, "fp64": 8}
CARD = "--gpu=h100"  # the driver without a GPU has one


def run(command, folder, code):
    """Runs a command; the PTX that the driver was given last."""
    env = dict(os.environ, FSC_CACHE_DIR="off", FAKE_CUDA_CODE=os.path.join(folder, code))
    done = subprocess.run(command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}"
    with open(os.path.join(folder, code), encoding="utf-8") as file:
        return file.read()


def plain(ptx):
    return "".join(line for line in ptx.splitlines(True) if not line.startswith(".visible .global"))


def ir_widths(code):
    """{(line, kind): the widest access in bytes} of global memory."""
    found = {}
    for op in code["ir"]:
        kind = {"load": "ld", "store": "st"}.get(op["kind"])
        if not kind or op["line"] == 0:
            continue
        bytes_ = op["vector"] * BYTES[code["values"][str(op["args"][0])]["pointee"]]
        found[op["line"], kind] = max(found.get((op["line"], kind), 0), bytes_)
    return found


def ptx_widths(ptx):
    found, line = {}, 0
    for text in ptx.splitlines():
        place = re.match(r"\s*\.loc\s+1 (\d+)", text)
        line = int(place.group(1)) if place else line
        access = re.search(r"\b(ld|st)\.global(?:\.[a-z_0-9:]+?)*?(?:\.v([24]))?\.[busf](\d+)\s", text)
        if access:
            key, bytes_ = (line, access.group(1)), int(access.group(2) or 1) * int(access.group(3)) // 8
            found[key] = max(found.get(key, 0), bytes_)
    return found


def check(tool, name, words, dtype, rows, cols, has_page):
    source = os.path.join(ROOT, "dsl_examples", name + ".dsl")
    words = [w.format(R=rows, N=cols, RN=rows * cols, T=dtype) for w in words]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        launch = run([tool, "run", "--device=cuda", "--warmup=0", "--repeat=1", source, *words], folder, "launch")
        asked = asked_words(tool, folder, source, words)
        doors = {"info": [tool, "info", "--json", CARD, source, *asked],
                 "profile": [tool, "profile", "--json", CARD, source, *words]}
        for door, command in doors.items():
            if run(command, folder, door) != launch:
                problems.append(f"{door} compiles other PTX than a launch: {' '.join(command[1:])}")
        if has_page:
            page = os.path.join(folder, "page.html")
            subprocess.run([tool, "viz", "--limit=2000000", source, *words, "-o", page], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, timeout=300)
            code = Page(page).facts["codes"][0]
            if code["ptx"] != plain(launch):
                problems.append("the page shows other PTX than a launch has")
            ir, ptx = ir_widths(code), ptx_widths(code["ptx"])
            wrong = {k: (v, ptx.get(k)) for k, v in ir.items() if ptx.get(k) != v}
            if wrong or not ir:
                problems.append(f"vectors in tile IR and in PTX, by line: {wrong or 'none'}")
    return [f"{name} {dtype} {rows}x{cols}: {p}" for p in problems]


def main(tool, *options):
    shapes, jobs = SMALL + LONG, []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for i, (name, words) in enumerate(cases().items()):
            first = i % len(shapes)
            chosen = shapes[:first] + shapes[first + 1:] if "--others" in options else [shapes[first]]
            jobs += [pool.submit(check, tool, name, words, *shape, shape in SMALL) for shape in chosen]
        problems = [p for job in jobs for p in job.result()]
    for p in problems:
        print(p)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
