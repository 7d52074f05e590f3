# The variants of an object are those of the JIT: whole vectors of the element type, ranges of lengths, few programs
# with long rows; and one that takes nothing for granted, so that some variant takes every launch. What `fsc info`
# reports of a launch is among them, with the same code.
# RUN: env FSC_PTXAS=%t.none fsc --emit=c --arch=sm_90 --variants BLOCK=1024,65536 %examples/softmax.dsl -o %t.fp32.c
# RUN: env FSC_PTXAS=%t.none fsc --emit=c --arch=sm_90 --variants BLOCK=1024,65536 -D T=bf16 %examples/softmax.dsl \
# RUN:   -o %t.bf16.c
# RUN: env FSC_PTXAS=%t.none FSC_CUDA_LIBRARY=%fakecuda %python %s fsc %examples/softmax.dsl %t
import os
import re
import subprocess
import sys


def variants(path):
    """(PTX without its record, the record's parameters, its launch) of each variant."""
    with open(path, encoding="utf-8") as file:
        codes = re.findall(r"softmax_code_\d+\[\d+\] = \{(.*?)\}", file.read(), re.S)
    for code in codes:
        yield parts(bytes(int(n) for n in code.replace("\n", "").split(",") if n.strip()).rstrip(b"\0").decode())


def parts(ptx):
    record = re.search(r"\.b8 fsc_record_\w+\[\d+\] = \{(.*?)\}", ptx, re.S).group(1)
    lines = bytes(int(n) for n in record.split(",")).decode().split("\n")
    params = {line.split()[2]: dict(w.partition("=")[::2] for w in line.split()[3:]) for line in lines
              if line.startswith("param")}
    launch = dict(w.split("=") for line in lines if line.startswith("launch") for w in line.split()[2:])
    return "".join(t for t in ptx.splitlines(True) if "fsc_record" not in t), params, launch


def range_of(p):
    return int(p.get("least", 0)), int(p.get("most", 0))


def cover(ranges, low, high):
    """Whether each length of (low, high] lies in one range."""
    at = low
    for least, most in sorted(ranges):
        assert least <= at + 1 <= most + 1, (ranges, at)
        at = most
    assert at == high, (ranges, high)


def check(path, unit):
    everything = list(variants(path))
    for block in (1024, 65536):
        of_block = [(ptx, p, l) for ptx, p, l in everything if str(block) in p["BLOCK"]]
        nothing = [p for _, p, _ in of_block
                   if not any("divisible" in q or "least" in q or "equals_one" in q for q in p.values())]
        assert len(nothing) == 1, f"{len(nothing)} variants of {block} take nothing for granted"
        aligned = [(p, l) for _, p, l in of_block if p not in nothing]
        assert all(p["x"].get("divisible") == p["y"].get("divisible") == "16" for p, _ in aligned)
        many = [p for p, _ in aligned if "most" not in p["n_rows"]]
        whole = [p for p in many if "divisible" in p["n_cols"]]
        assert all(p[n]["divisible"] == str(unit) for p in whole for n in ("n_cols", "x_stride", "y_stride"))
        cover([range_of(p["n_cols"]) for p in whole], block // 2, block)
        cover([range_of(p["n_cols"]) for p in many if p not in whole], block // 2, block)
        few = [(range_of(p["n_rows"]), l) for p, l in aligned if p not in many]
        wanted = [(1, 1), (2, 2), (3, 4), (5, 7), (8, 8), (9, 132)] if block == 65536 else []
        assert sorted(r for r, _ in few) == sorted(2 * wanted), few
        assert all(int(l["grid"]) == most and most * int(l["blocks"]) <= 132 for (_, most), l in few if "grid" in l)
    return everything


def reported(tool, source, folder, words):
    """The PTX that `fsc info` compiles for these words."""
    code = os.path.join(folder + ".code")
    env = dict(os.environ, FAKE_CUDA_CODE=code)
    subprocess.run([tool, "info", "--gpu=h100", source, *words], check=True, env=env, stdout=subprocess.DEVNULL,
                   timeout=60)
    with open(code, encoding="utf-8") as file:
        return parts(file.read())[0]


tool, source, made = sys.argv[1:]
for dtype, unit in (("fp32", 4), ("bf16", 8)):
    everything = check(f"{made}.{dtype}.c", unit)
    for cols in (600, 601, 1000, 1009, 40000, 65533):  # of so many programs that their number says nothing
        ptx = reported(tool, source, made, [f"-TT={dtype}", f"n_cols={cols}", "n_rows=1001"])
        assert any(ptx == code
                   for code, _, _ in everything), f"{dtype}, {cols} columns: a launch's code is not in the object"
