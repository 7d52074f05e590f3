# compile_times.py - the slowest compiles among options drawn over every example.
#
# In: the tool; how many, a seed. Out: the slowest, in seconds of the processor's time, so that other work on the
# machine does not count; status 1 where one takes more than LIMIT, or ends other than with code or errors.
# Method: tiles of 16 to 32768 places an axis, 1 to 32 warps or the compiler's choice, types, targets. What is refused
# counts like the rest: a refusal has to come soon.
import argparse
import glob
import os
import random
import re
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
LIMIT = 10
TARGETS = ["sm_75", "sm_80", "sm_90", "sm_100", "emu", "cpu"]


def kernels():
    """(file, kernel, its constexpr numbers, its dtype parameters)"""
    files = glob.glob(os.path.join(ROOT, "dsl_examples", "**", "*.dsl"), recursive=True)
    for path in sorted(files) + [os.path.join(HERE, "Inputs", "tiles.dsl")]:
        with open(path) as f:
            text = f.read()
        for m in re.finditer(r"^@kernel.*?^def (\w+)\((.*?)\):$", text, re.M | re.S):
            sizes = re.findall(r"(\w+): constexpr = (\d+)", m[2])
            yield path, m[1], [(name, int(value)) for name, value in sizes], re.findall(r"(\w+): dtype = fp", m[2])


def draw(r, kernel):
    path, name, sizes, types = kernel
    words = [path, "--kernel", name]
    for size, value in sizes:
        if value >= 16 and r.random() < 0.8:
            words += ["-D", "%s=%d" % (size, 1 << r.randint(4, 15 if len(sizes) == 1 else 7))]
    for t in types:
        words += ["-T", "%s=%s" % (t, r.choice(["fp32", "bf16", "fp16", "fp64"]))]
    if r.random() < 0.8:
        words.append("--num-warps=%d" % (1 << min(r.randint(0, 5), r.randint(0, 5))))
    arch = r.choice(TARGETS)
    return words + ["--arch=" + arch, "--emit=" + ("ptx" if arch.startswith("sm_") else "asm"), "-o", os.devnull]


def spent():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def compile_one(tool, words):
    """(seconds, whether it is refused, what is wrong or None)"""
    before = spent()
    try:
        p = subprocess.run([tool] + words, capture_output=True, timeout=20 * LIMIT)
    except subprocess.TimeoutExpired:
        return spent() - before, False, "no end in %d s" % (20 * LIMIT)
    seconds = spent() - before
    if p.returncode not in (0, 1):
        return seconds, False, "status %d: %s" % (p.returncode, p.stderr.decode()[:300])
    return seconds, p.returncode == 1, "more than %d s" % LIMIT if seconds > LIMIT else None


def main():
    a = argparse.ArgumentParser()
    a.add_argument("tool")
    a.add_argument("--count", type=int, default=100)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("words", nargs="*", help="of the paths to choose from")
    o = a.parse_intermixed_args()
    chosen = [k for k in kernels() if not o.words or any(w in k[0] for w in o.words)]
    own = [k for k in chosen if k[0].startswith(HERE)] # half of all
    r, done, wrong, refused = random.Random(o.seed), [], 0, 0
    for _ in range(o.count):
        words = draw(r, r.choice(chosen if r.random() < 0.5 else own or chosen))
        seconds, is_refused, why = compile_one(o.tool, words)
        refused += is_refused
        done.append((seconds, " ".join(words)))
        if why:
            wrong += 1
            print("WRONG: %s\n  %s" % (why, done[-1][1]), flush=True)
    for seconds, words in sorted(done, reverse=True)[:8]:
        print("%7.2f s  %s" % (seconds, words.replace(HERE + os.sep, "").replace(ROOT + os.sep, "")))
    print("%d compiles, %d of them refused, %d wrong" % (len(done), refused, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
