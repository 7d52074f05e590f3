#!/usr/bin/env python3
"""objects.py BUILD|ARCHIVE cuda|FAKE_DRIVER: objects ahead of time with cubins and with PTX, run on a GPU.

In: a build, which is installed, or cpack's archive (.tar, .tar.gz). With a fake driver kernels do not run, so results
are not judged, and only PTX is launched.
Out: a line for each object; the first thing that is wrong ends it. Method: each object is linked with libfsc-runtime
alone into docs/examples/embed/embed.c and tests/Inputs/objects.c, which run on the GPU, and again where there is no
driver.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from install import NO_DRIVER, ROOT, STRICT, expect, install, run

NO_PTXAS = {"FSC_PTXAS": "no-such-ptxas"}
KERNEL = os.path.join(ROOT, "dsl_examples", "softmax.dsl")
# Name, --emit, --arch, whether ptxas is found.
OBJECTS = [("object-cubin", "object", "sm_80,sm_90,cpu", True),
           ("object-ptx", "object", "sm_80,sm_90,cpu", False),
           ("c-cubin", "c", "sm_80,sm_90", True),
           ("c-ptx", "c", "sm_80,sm_90", False),
           ("older-cubin", "object", "sm_80", True),  # its cubin does not fit an sm_90; the PTX beside it does
           ("older-ptx", "object", "sm_80", False),
           ("newer-ptx", "object", "sm_120", False)]  # fits no GPU before it
NEWER = "FSC_ERROR_ARCH: kernel softmax is compiled for sm_120, and "
# What tests/Inputs/objects.c says of its launches that are refused, and of two that are not.
REFUSED = [r"too long: FSC_NO_VARIANT: .* gives 8192, .*: --variants BLOCK=256\.\.8192 would cover it",
           r"too short: FSC_NO_VARIANT: .* gives 128, .*: --variants BLOCK=128\.\.4096 would cover it",
           r"no y: FSC_ERROR_CONTRACT: buffer y is NULL, and its contract .* wants 16000 bytes",
           r"y between elements: FSC_ERROR_ARGUMENT: argument y is at 0x[0-9a-f]+, between two elements of fp32",
           r"no rows: FSC_OK: ", r"another object: FSC_ERROR_USAGE: the object was made by another version of fsc"]


def status_and_text(*command, env=None):
    done = subprocess.run(command, env=dict(os.environ, **(env or {})), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=100)
    return done.returncode, done.stdout


def has_ptxas(prefix, folder):
    return (status_and_text(os.path.join(prefix, "bin", "fsc"), "--emit=cubin", "--arch=sm_80", KERNEL, "-o",
                            os.path.join(folder, "softmax.cubin"))[0] == 0)


def compile_object(prefix, folder, name, emit, archs, assembled):
    """Its folder, with softmax.h and the two programs; how many cubins it holds."""
    place = os.path.join(folder, name)
    os.mkdir(place)
    made = os.path.join(place, "softmax." + {"c": "c", "object": "o"}[emit])
    run(os.path.join(prefix, "bin", "fsc"), "--emit=" + emit, "--arch=" + archs, "--variants", "BLOCK=256..4096",
        KERNEL, "-o", made, "--header=" + os.path.join(place, "softmax.h"), env={} if assembled else NO_PTXAS)
    library, include = os.path.join(prefix, "lib"), "-I" + os.path.join(prefix, "include")
    if emit == "c":
        source, made = made, os.path.join(place, "softmax.o")
        run("cc", "-std=c17", *STRICT, include, "-c", source, "-o", made)
    for source in ("docs/examples/embed/embed.c", "tests/Inputs/objects.c"):
        program = os.path.join(place, os.path.basename(source)[:-2])
        run("cc", "-std=c17", "-O1", *STRICT, "-I" + place, include, os.path.join(ROOT, source), made, "-o", program,
            "-L" + library, "-lfsc-runtime", "-lm", "-Wl,-rpath," + library)
        needed = run("ldd", program)
        expect("libfsc-runtime.so" in needed and not re.search(r"LLVM|cuda|libfsc\.so|stdc\+\+", needed),
               "%s needs %s" % (program, needed))
    with open(os.path.join(place, "objects"), "rb") as file:
        return place, file.read().count(b"\177ELF\2\1") - 1  # the program's own


def check_launches(name, printed, judged):
    """Every launch right, and each refusal as it should be; what is worth saying."""
    found = re.search(r"^(\d+) launches, (\d+) wrong, worst relative error (\S+)$", printed, re.M)
    expect(found and int(found[1]) == 104, "%s prints %s" % (name, printed))
    expect(not judged or found[2] == "0", "%s is wrong: %s" % (name, printed))
    for line in REFUSED:
        expect(re.search("^" + line, printed, re.M), "%s does not say %r: %s" % (name, line, printed))
    loaded, call = re.search(r"loaded in (.*) ms", printed), re.search(r"a call: (.*) ns", printed)
    return "104 launches%s, all variants loaded in %s ms, a call takes the host %s ns" % (
        ", worst relative error " + found[3] if judged else "", loaded[1], call[1])


def run_on_gpu(name, place, fake):
    env = {"FSC_CUDA_LIBRARY": fake} if fake else {}
    code, printed = status_and_text(os.path.join(place, "objects"), "cuda", env=env)
    if name.startswith("newer"):
        expect(code == 1 and "launch: " + NEWER in printed, "%s ends with %d, %s" % (name, code, printed))
        return printed.split("launch: ")[1].split("\n")[0]
    expect(fake or code == 0, "%s ends with %d, %s" % (name, code, printed))
    said = check_launches(name, printed, not fake)
    code, printed = status_and_text(os.path.join(place, "embed"), env=env)
    expect("softmax of 257 x 781: off by" in printed and (fake or code == 0),
           "%s: embed ends with %d, %s" % (name, code, printed))
    return said


def run_without_driver(name, place, archs):
    code, printed = status_and_text(os.path.join(place, "embed"), env=NO_DRIVER)
    if "cpu" not in archs:
        expect(code == 1 and "FSC_NO_DRIVER: " in printed,
               "%s without a driver ends with %d, %s" % (name, code, printed))
        return printed.split("\n")[0]
    expect(code == 0 and "softmax of 257 x 781: off by" in printed,
           "%s without a driver ends with %d, %s" % (name, code, printed))
    code, printed = status_and_text(os.path.join(place, "objects"), "cpu", env=NO_DRIVER)
    expect(code == 0, "%s without a driver ends with %d, %s" % (name, code, printed))
    return "cpu: " + check_launches(name, printed, True)


def foreign_cubin(folder, place):
    """The cubin of has_ptxas, alone: for another major version than the device's."""
    printed = run(os.path.join(place, "objects"), "cuda", os.path.join(folder, "softmax.cubin"))
    expect(printed.startswith("module: FSC_ERROR_ARCH: "), "a cubin for sm_80 on this device: " + printed)
    print("a cubin for sm_80 alone: " + printed.strip())


def main():
    archive, fake = os.path.abspath(sys.argv[1]), None if sys.argv[2] == "cuda" else os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        prefix = install(archive, folder, True)  # a build without packing it: tests/install.py does that
        assembled = has_ptxas(prefix, folder)
        kinds = [kind for kind in OBJECTS if not kind[3] or assembled]
        if not assembled:
            print("ptxas is not there: nothing with cubins is tried")
        with concurrent.futures.ThreadPoolExecutor(min(len(kinds), os.cpu_count() or 1)) as pool:
            made = list(pool.map(lambda kind: compile_object(prefix, folder, *kind), kinds))
        for (name, _, archs, with_ptxas), (place, cubins) in zip(kinds, made):
            print("%s, %s: %d cubins" % (name, archs, cubins))
            expect((cubins > 0) == with_ptxas, "%s holds %d cubins" % (name, cubins))
            if not (fake and with_ptxas):  # which reads no real cubin
                print("    " + run_on_gpu(name, place, fake), flush=True)
            print("    " + run_without_driver(name, place, archs), flush=True)
        if assembled and not fake:
            foreign_cubin(folder, made[0][0])
    print("objects: all right")


if __name__ == "__main__":
    main()
