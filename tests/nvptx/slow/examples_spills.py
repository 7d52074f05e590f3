# Every example fits into its registers: no spills for rows of 8192 in fp32, pointers and strides aligned, on an old,
# a common and a new card. Nor do epilogues of matmul.dsl, beside 128 sums a thread: gelu's takes four registers more.
# REQUIRES: ptxas
# RUN: %python %s fsc %ptxas %examples %t
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "run"))
from rows import parameters  # noqa: E402

N = 8192


def signature(source):
    """Types and values by position, as a launch with rows of N would bind them: constexprs by their default,
    BLOCK by the rule."""
    rule = re.search(r"BLOCK=(.*?)(?=,\s+\w+=|\)\n)", source, re.S)
    block = N if rule and rule.group(1).startswith("next_power_of_2(n_cols") else None
    bound = []
    for name, annotation in parameters(source):
        default = re.search(rf"\b{name}: (?:constexpr|dtype) = (\w+)", source)
        if annotation.startswith("*"):
            kind = re.match(r"\*(?:const )?(\w+)", annotation).group(1)
            default = re.search(rf"\b{kind}: dtype = (\w+)", source)
            bound.append(f"*{default.group(1) if default else kind}:16")
        elif default:
            value = block if name == "BLOCK" and block else default.group(1)
            bound.append(str(1 if name == "ROWS" and block else value))
        elif annotation.startswith("constexpr"):
            bound.append("")  # a string: its default
        else:
            bound.append(annotation + (":16" if name == "n_cols" or name.endswith("stride") else ""))
    return ", ".join(bound)


def spills(tool, ptxas, path, arch, out, *options):
    with open(path, encoding="utf-8") as f:
        listed = signature(f.read())
    subprocess.run([tool, path, f"--arch={arch}", "--signature", listed, *options, "-o", f"{out}.ptx"], check=True)
    said = subprocess.run([ptxas, "-v", f"-arch={arch}", f"{out}.ptx", "-o", f"{out}.cubin"], check=True,
                          capture_output=True, text=True)
    return int(re.search(r"(\d+) bytes spill stores", said.stderr).group(1))


def epilogue_spills(tool, ptxas, examples, arch, activation, out):
    """Of the largest default tile of matmul.dsl, 128 sums a thread, with a bias, an activation and a residual."""
    listed = ", ".join(["*fp16:16"] * 5 + ["i32:16"] * 7)
    rows, columns = (128, 256) if arch == "sm_90a" else (256, 128)
    tile = ["-D", f"BM={rows}", "-D", f"BN={columns}", "-D", "BK=64", "-D", f'ACTIVATION="{activation}"']
    subprocess.run([tool, os.path.join(examples, "matmul.dsl"), f"--arch={arch}", "--signature", listed, *tile, "-o",
                    f"{out}.ptx"], check=True, capture_output=True)
    said = subprocess.run([ptxas, "-v", f"-arch={arch}", f"{out}.ptx", "-o", f"{out}.cubin"], check=True,
                          capture_output=True, text=True)
    return int(re.search(r"(\d+) bytes spill stores", said.stderr).group(1))


def main():
    tool, ptxas, examples, out = sys.argv[1:]
    seen, wrong = 0, []
    for path in sorted(glob.glob(os.path.join(examples, "*.dsl"))):
        for arch in ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_120"):
            seen += 1
            size = spills(tool, ptxas, path, arch, out)
            if size:
                wrong.append(f"{os.path.basename(path)} on {arch}: {size} bytes")
    for arch in ("sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_120"):
        for activation, most in (("relu", 0), ("silu", 0), ("gelu", 16)):  # 1580 bytes before there were strips
            size = epilogue_spills(tool, ptxas, examples, arch, activation, out)
            if size > most:
                wrong.append(f"matmul.dsl with {activation} on {arch}: {size} bytes")
    crowded = spills(tool, ptxas, os.path.join(examples, "layernorm_backward.dsl"), "sm_90", out, "--num-warps=2")
    assert crowded > 0, "128 elements of five tiles in a thread: this must spill, and was not seen"
    assert seen >= 3 * 25, f"only {seen} kernels"
    assert not wrong, "spilled: " + "; ".join(wrong)


main()
