# `fsc profile` finds the planted cause of slowness of each kernel of Inputs/slow.dsl, says so at its line, and no longer
# finds it in the kernel without it. Every row of advice.def is planted.
# RUN: %python %s fsc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "..", "compiler", "tool", "profile", "advice.def")
BIG, CARD = "x=random:0:fp32[65536]", ["--gpu=h200", "--registers=32"]
FULL = [*CARD, "--num-warps=8", "--registers=255"]
# the finding; words of a slow call; the lines that are told (none: of the whole); words of a call without it
PLANTED = [
    ("scattered", ["by_rows", "x=random:0:fp32[512,32]"], [7], ["by_columns", "x=random:0:fp32[32,512]"]),
    ("few_lanes", ["one_sum", "x=random:0:fp32[512,64]"], [23], ["doubled", BIG]),
    ("narrow", ["once_read", "x=random:0:fp32[64,1001]"], [53, 54], ["once_read", "x=random:0:fp32[64,1024]"]),
    ("reread", ["twice_read", "x=random:0:fp32[64,1024]"], [], ["once_read", "x=random:0:fp32[64,1024]"]),
    ("conflicts", ["gathered", "x=random:0:fp32[1024]"], [60], ["doubled", BIG]),
    ("masked", ["doubled", "x=random:0:fp32[300]", "BLOCK=4096"], [35], ["doubled", BIG]),
    ("atomics", ["one_counter", BIG], [66], ["one_atomic", BIG]),
    ("exact_division", ["divided_exactly", BIG, "by=3"], [78], ["divided", BIG, "by=3"]),
    ("special", ["many_exps", BIG], [92], ["many_exps", BIG, "TIMES=1"]),
    ("instructions", ["many_products", BIG], [100, 101], ["many_products", BIG, "TIMES=1"]),
    ("multiply_adds", ["squared", "x=random:0:fp32[16,4096]"], [109], ["squared", "x=random:0:fp16[16,4096]"]),
    ("unstaged", ["chained", "x=random:0:fp16[16,4096]"], [116], ["chained", "x=random:0:fp16[16,4096]", "STAGES=3"]),
    ("exchanges", ["sum_of_sums", "x=random:0:fp32[16,8192]"], [125], ["sum_of_tiles", "x=random:0:fp32[16,8192]"]),
    ("barriers", ["fenced", "x=random:0:fp32[16,8192]"], [144], ["fenced", "x=random:0:fp32[16,8192]", "FENCE=0"]),
    ("spills", ["wide_product", "x=random:0:fp16[16384]", "n=1", "--num-warps=1"], [151],
     ["wide_product", "x=random:0:fp16[16384]", "n=1", "--num-warps=8"]),
    ("few_programs", ["doubled", "x=random:0:fp32[8192]", *CARD], [], ["doubled", "x=random:0:fp32[262144]", *CARD]),
    ("last_wave", ["doubled", "x=random:0:fp32[295936]", *FULL], [], ["doubled", "x=random:0:fp32[270336]", *FULL]),
    ("occupancy", ["doubled", BIG, "BLOCK=256", *FULL], [], ["doubled", BIG, "BLOCK=256", *CARD]),
]


def findings(tool, words):
    kernel, *rest = words
    out = "total=zeros:fp32[1]" if kernel in ("one_counter", "one_atomic") else "y=y.npy"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([tool, "profile", "--json", os.path.join(HERE, "Inputs", "slow.dsl"),
                               "--kernel=" + kernel, *rest, out], cwd=folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, (words, done.stderr)
    return json.loads(done.stdout)["advice"]["findings"]


with open(TABLE, encoding="utf-8") as file:
    rows = re.findall(r"^ADVICE\((\w+)", file.read(), re.M)
assert set(rows) == {name for name, *_ in PLANTED}, rows
tool = os.path.abspath(shutil.which(sys.argv[1]) or sys.argv[1])
for name, slow, lines, mended in PLANTED:
    found = findings(tool, slow)
    told = [f for f in found if f["name"] == name]
    assert told and told[0]["lines"] == lines, (name, found)
    gains = [(f["gain_seconds"], f["cost_seconds"]) for f in found]
    assert gains == sorted(gains, reverse=True), gains
    assert name not in [f["name"] for f in findings(tool, mended)], (name, mended)
told = [f for f in findings(tool, dict((p[0], p[1]) for p in PLANTED)["occupancy"]) if f["name"] == "occupancy"][0]
wave = 500 / 1.98e9  # seconds that each of two waves waits for memory; all 256 blocks would fit at once
assert abs(told["gain_seconds"] - wave) < 0.01 * wave and abs(told["cost_seconds"] - wave) < 0.01 * wave, told
assert "occupancy" not in [f["name"] for f in findings(tool, ["doubled", "x=random:0:fp32[8192]", *FULL])], "one wave"
print(len(PLANTED), "planted")
