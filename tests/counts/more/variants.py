# Whoever compiles for a launch compiles the same: of every example `fsc info`, `fsc profile` and a launch give the
# driver one text of PTX, byte for byte, and so one number of registers; the page of `fsc viz` shows its instructions, each
# with the op of the tile IR that it belongs to, and accesses as wide as those ops say. One shape of each example, by
# turns; --others: all but that (more/variants.test). The driver is the one without a GPU, which keeps what it loads;
# there is no ptxas, so that all goes through it.
# RUN: env FSC_PTXAS=%t.none FSC_CUDA_LIBRARY=%fakecuda %python %s fsc
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path[:0] = [os.path.join(HERE, "..", "..", "run"), os.path.join(HERE, "..", "..", "tool", "Inputs")]
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
    """Without what is for the driver alone, or names lines."""
    clutter = r"\s*$|\s*//|\$L__(tmp|func_)|\s*\.(loc|file|section)\b|\.visible \.global"
    return [line for line in ptx.splitlines() if not re.match(clutter, line)]


# What of an instruction says which op it can be. Others, such as those of addresses, can be of any.
TELLING = {r"\bld\.(volatile\.)?global": {"load", "shared_load", "shared_store", "barrier"},
           r"\bst\.(volatile\.)?global": {"store", "shared_store", "barrier"}, r"\bcp\.async\.c[ag]": {"copy_async"},
           r"\bmma\.sync": {"mma"}, r"\bbar\.sync": {"barrier", "shared_store"}, r"\batom\.global": {"atomic_rmw",
                                                                                                   "atomic_cas"}}


def instructions(code):
    """(op, first register, registers, text) of each."""
    ops, entries, at, found = {op["op"]: op for op in code["ir"]}, list(code["ptx_ops"]), None, []
    for i, text in enumerate(code["ptx"].split("\n")):
        while entries and entries[0][0] <= i:
            at = entries.pop(0)
        if at and re.match(r"\s+(@|[a-z])", text):
            found.append((ops.get(at[1]), at[2], at[3], text.strip()))
    return found


def width(text):
    """Of an access of global memory, in bytes; 0: it is none."""
    access = re.search(r"\b(?:ld|st)\.(?:volatile\.)?global(?:\.[\w:]+?)*?(?:\.v([24]))?\.[busf](\d+)\s", text)
    return int(access.group(1) or 1) * int(access.group(2)) // 8 if access else 0


def check_ops(code):
    """What is wrong with whose instructions are which."""
    found, wrong = instructions(code), []
    for op, _, _, text in found:
        kinds = next((kinds for pattern, kinds in TELLING.items() if re.search(pattern, text)), None)
        if kinds and op and op["kind"] not in kinds:
            wrong.append((op["text"], text))
    accesses = [op for op in code["ir"] if op["kind"] in ("load", "store")]
    for op in accesses:
        mine = [(width(text), count) for o, _, count, text in found if o is op and width(text)]
        bytes_ = op["vector"] * BYTES[code["values"][str(op["args"][0])]["pointee"]]
        has_vector = any(w == bytes_ and count in (op["vector"], 0) for w, count in mine)
        if not has_vector or max(mine)[0] != bytes_:
            wrong.append((op["text"], bytes_, mine))
    return wrong if accesses else ["no loads and stores"]


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
            if plain(code["ptx"]) != plain(launch):
                problems.append("the page shows other PTX than a launch has")
            wrong = check_ops(code)
            if wrong:
                problems.append(f"instructions and their ops: {wrong}")
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
