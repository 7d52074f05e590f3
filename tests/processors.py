#!/usr/bin/env python3
"""processors.py FSC [EMULATOR COMPILER]: objects with code for several levels of processors, run on some of them.

Each object is linked with libfsc-runtime's sources and docs/examples/embed/embed.c. On this machine the program takes
the levels of x86-64 (or AArch64) that are here. With an emulator of AArch64 and a cross compiler the same goes for
processors of that kind: without SVE, and with SVE's registers of 32 and of 64 bytes. Every result is judged by the
program, in float64; what a processor lacks is refused and never run.
"""

import concurrent.futures
import glob
import os
import platform
import subprocess
import sys
import tempfile

from install import ROOT, STRICT, expect, run

KERNEL = os.path.join(ROOT, "dsl_examples", "softmax.dsl")
EMBED = os.path.join(ROOT, "docs/examples/embed/embed.c")
LEVELS = {"x86_64": ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"],
          "aarch64": ["armv8-a", "armv8.2-a+fp16", "armv8.6-a", "sve256", "sve512"]}
# What qemu takes for a processor, and the levels that it has.
EMULATED = {"cortex-a72": ["armv8-a"], "neoverse-n1": ["armv8-a", "armv8.2-a+fp16"],
            "max,sve=off": ["armv8-a", "armv8.2-a+fp16", "armv8.6-a"],
            "max,sve256=on,sve512=off": ["armv8-a", "armv8.2-a+fp16", "armv8.6-a", "sve256"],
            "max,sve512=on": ["armv8-a", "armv8.2-a+fp16", "armv8.6-a", "sve512"]}
REFUSED = "FSC_ERROR_ARCH: kernel softmax is compiled for processors of %s, and this one is none: compile it with "


class Programs:
    """embed.c with an object for some levels, linked by a compiler."""

    def __init__(self, fsc, compiler, folder):
        self.fsc, self.compiler, self.folder, self.made = fsc, compiler, folder, {}
        sources = [path for path in sorted(glob.glob(os.path.join(ROOT, "runtime", "**", "*.c"), recursive=True))
                   if os.sep + "jit" + os.sep not in path and os.sep + "python" + os.sep not in path]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            self.runtime = list(pool.map(self._compile, sources))

    def _compile(self, source):
        made = os.path.join(self.folder, os.path.relpath(source, ROOT).replace(os.sep, "_")[:-1] + "o")
        run(self.compiler, "-std=c17", "-O1", *STRICT, "-D_POSIX_C_SOURCE=200809L", "-I" + ROOT, "-c", source, "-o",
            made)
        return made

    def of(self, levels):
        if levels not in self.made:
            place = os.path.join(self.folder, "levels%d" % len(self.made))
            os.mkdir(place)
            made, program = os.path.join(place, "softmax.o"), os.path.join(place, "embed")
            run(self.fsc, "--emit=object", "--arch=cpu", "--cpu=" + levels, "--variants", "BLOCK=256..1024", KERNEL,
                "-o", made, "--header=" + os.path.join(place, "softmax.h"))
            run(self.compiler, "-std=c17", "-O1", *STRICT, "-I" + place, "-I" + os.path.join(ROOT, "runtime"), EMBED,
                made, *self.runtime, "-o", program, "-static", "-lm", "-ldl", "-lpthread")
            self.made[levels] = program
        return self.made[levels]


def check(command, program, levels, is_here):
    """Runs and is right where one of the levels is here, else is refused."""
    done = subprocess.run([*command, program], text=True, capture_output=True, timeout=100)
    text = "%s for %s: status %d, " % (" ".join(command) or "here", levels, done.returncode) + done.stdout + done.stderr
    if is_here:
        expect(done.returncode == 0 and "softmax of 257 x 781: off by" in done.stdout, text)
    else:
        expect(done.returncode == 1 and done.stderr.startswith(REFUSED % levels.split(",")[0]), text)


def check_processor(programs, command, all_levels, here):
    """Each level alone, all of them together, and the least with what is not here."""
    for level in all_levels:
        check(command, programs.of(level), level, level in here)
        check(command, programs.of(",".join({all_levels[0]: 1, level: 1})), level, True)
    check(command, programs.of(",".join(all_levels)), "all levels", True)
    print("%s: %s, and none of the others" % (" ".join(command) or "here", ", ".join(here)), flush=True)


def levels_here(levels):
    """By another way than the runtime's: what the system's loader or kernel says."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        words = set(file.read().split())
    needs = {"x86-64-v2": {"sse4_2", "popcnt"}, "x86-64-v3": {"avx2", "bmi2", "fma"},
             "x86-64-v4": {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512cd"},
             "armv8.2-a+fp16": {"asimdhp", "atomics"}, "armv8.6-a": {"bf16", "i8mm", "asimdhp"}}
    found = [level for level in levels if not level.startswith("sve") and needs.get(level, set()) <= words]
    if "sve" in words:
        with open("/proc/sys/abi/sve_default_vector_length", encoding="utf-8") as file:
            found += ["sve%d" % (8 * int(file.read()))]
    return [level for level in levels if level in found]


def main():
    fsc, here = os.path.abspath(sys.argv[1]), platform.machine()
    with tempfile.TemporaryDirectory() as folder:
        own, other = os.path.join(folder, "own"), os.path.join(folder, "other")
        os.mkdir(own), os.mkdir(other)
        if here in LEVELS:
            check_processor(Programs(fsc, "cc", own), [], LEVELS[here], levels_here(LEVELS[here]))
        if len(sys.argv) > 3:
            programs = Programs(fsc, sys.argv[3], other)
            for processor, levels in EMULATED.items():
                check_processor(programs, [sys.argv[2], "-cpu", processor], LEVELS["aarch64"], levels)
    print("processors: all right")


if __name__ == "__main__":
    main()
