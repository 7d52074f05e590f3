"""test_variants.py - on a GPU: a launch, `fsc info` and `fsc profile` speak of one variant,
with the registers that the driver counts.

tests/counts/more/variants.py compares the PTX of all three, byte by byte, without a GPU; here the driver has the last
word.
"""
import ctypes as c
import json
import os
import subprocess
import tempfile

from calls import asked_words, cases
from case import EXAMPLES, Skip, case
from fsc import CompileOptions, lib

SHAPES = ["fp32 3x200", "bf16 4x1000", "fp32 5x781", "fp32 64x8192", "bf16 2x12288"]


def tool():
    """The tool beside the library, in a build tree and in a package."""
    folder = os.path.dirname(os.path.abspath(os.environ.get("FSC_LIBRARY", "")))
    for path in (os.path.join(folder, "fsc"), os.path.join(folder, "..", "bin", "fsc")):
        if os.access(path, os.X_OK):
            return path
    raise Skip("no fsc beside the library")


def printed(folder, *command):
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)


def card_of(bench):
    """The card's key in the table; none: profiles are of other cards."""
    known = {"NVIDIA H200": "h200", "NVIDIA H100 80GB HBM3": "h100", "NVIDIA A100-SXM4-40GB": "a100",
             "NVIDIA A100-SXM4-80GB": "a100-80gb", "NVIDIA B200": "b200"}
    return known.get(bench.device.props().name.decode())


@case(only="cuda", name=list(cases()))
def one_variant(bench, name):
    """The examples take turns at the shapes: each case is three processes that start the driver."""
    shape = SHAPES[list(cases()).index(name) % len(SHAPES)]
    fsc, source = tool(), os.path.join(EXAMPLES, name + ".dsl")
    dtype, (rows, cols) = shape.split()[0], map(int, shape.split()[1].split("x"))
    words = [w.format(R=rows, N=cols, RN=rows * cols, T=dtype) for w in cases()[name]]
    with tempfile.TemporaryDirectory() as folder:
        launched = printed(folder, fsc, "run", "--json", "--device=cuda", "--warmup=0", "--repeat=1", source, *words)
        seen = {"info": printed(folder, fsc, "info", "--json", source, *asked_words(fsc, folder, source, words))}
        if rows * cols < 8192 and card_of(bench):
            seen["profile"] = printed(folder, fsc, "profile", "--json", "--gpu=" + card_of(bench), source,
                                      *words)["card"]
    for door, report in seen.items():
        for field in ("registers", "spill_bytes"):
            assert report[field] == launched[field], (f"{door}: {report[field]} {field}, "
                                                      f"and a launch has {launched[field]}")


@case()
def options_are_the_headers(bench):
    """fsc.py has all of fsc_compile_options: the library writes nothing behind it."""
    class Guarded(c.Structure):
        _fields_ = [("options", CompileOptions), ("guard", c.c_uint8 * 256)]

    o = Guarded()
    c.memset(c.byref(o), 0xA5, c.sizeof(o))
    lib.fsc_compile_options_init(c.byref(o.options))
    assert bytes(o.guard) == b"\xa5" * 256, "fields are missing"
    assert not any(bytes(o.options)[-8:]), "fields are too many"
