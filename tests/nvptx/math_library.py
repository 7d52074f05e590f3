# RUN: %python %s fsc sm_90
"""math_library.py FSC ARCH... - the functions of the library compile for each arch, without a call into anything that a
GPU does not have, and ptxas takes them without spills, where there is one (FSC_PTXAS). more/ has the other archs.
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "math_library.dsl")
CALL = re.compile(r"\bcall\b(?!.*\bfsc_\w+,)|\.extern")  # fsc_…: functions of the module's own, which loop


def problems(fsc, kernel, arch, folder):
    path = os.path.join(folder, kernel + ".ptx")
    subprocess.run([fsc, SOURCE, "--kernel=" + kernel, "--arch=" + arch, "-o", path], check=True)
    with open(path, encoding="utf-8") as f:
        lines = f.readlines()
    found = [f"foreign: {line.strip()}" for line in lines if CALL.search(line)]
    if kernel == "singles" and not any("mul.hi.u32" in line for line in lines):
        found.append("large arguments of sin are not reduced by whole products")
    ptxas = os.environ.get("FSC_PTXAS")
    if ptxas:
        said = subprocess.run([ptxas, "-arch=" + arch, "-v", path, "-o", path + ".cubin"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        spills = [int(n) for n in re.findall(r"(\d+) bytes spill", said.stdout)]
        if said.returncode or not spills or any(spills):
            found.append(said.stdout)
    return [f"{kernel}, {arch}: {text}" for text in found]


def main():
    fsc, *archs = sys.argv[1:]
    with open(SOURCE, encoding="utf-8") as f:
        kernels = re.findall(r"^def (\w+)", f.read(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        found = [p for arch in archs for kernel in kernels for p in problems(fsc, kernel, arch, folder)]
    print("\n".join(found + [f"{len(kernels)} kernels, {len(found)} problems"]))
    return 1 if found or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
