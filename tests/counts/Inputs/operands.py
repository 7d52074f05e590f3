"""operands.py FSC KERNEL - a product of every type, each operand straight and transposed, has no conflicts of banks.

The shapes are those at which a row is 128 bytes or less, and more.
"""
import itertools
import re
import subprocess
import sys

TYPES = {"fp16": "fp32", "bf16": "fp32", "i8": "i32", "fp8e5": "fp32", "fp32": "fp32", "fp64": "fp64"}


def conflicts(fsc, kernel, type_, sizes, turns):
    """The conflicts of the whole program, as the report ends with them."""
    m, n, k = sizes
    defines = dict(M=m, N=n, K=k, TURN_X=turns[0], TURN_Y=turns[1])
    command = [fsc, "profile", kernel, f"x=random:0:{type_}[{m * k}]", f"y=random:0:{type_}[{k * n}]",
               f"r=zeros:{TYPES[type_]}[{m * n}]", "-T", f"T={type_}", "-T", f"R={TYPES[type_]}"]
    for name, value in defines.items():
        command += ["-D", f"{name}={value}"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [int(x) for x in re.findall(r"wavefronts, (\d+) for conflicts", text)]


def main():
    bad = 0
    sizes = (64, 64, 64), (32, 128, 32)
    for type_, shape, turns in itertools.product(TYPES, sizes, itertools.product((0, 1), (0, 1))):
        found = conflicts(*sys.argv[1:3], type_, shape, turns)
        if not found or any(found):
            print(f"{type_} {shape} transposed {turns}: conflicts {found}")
            bad += 1
    return bad != 0


sys.exit(main())
