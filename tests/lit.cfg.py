# lit.cfg.py - how lit runs the cases under tests/.
#
# A case is a file with RUN: lines. In them: fsc, FileCheck, not, count, diff, and
#   %python            a Python that has numpy
#   %examples          dsl_examples/
#   %bench, %libfsc    bench/ and libfsc, for `env FSC_LIBRARY=%libfsc %python %bench/bench.py`
#   %headers, %runtime, %libraries   for the C++ compiler: fsc.h, libfsc-runtime, the folder of both libraries
#   %fakecuda          the CUDA driver without a GPU, for FSC_CUDA_LIBRARY (tests/runtime/fakecuda.c)
#   exits N CMD        CMD ends with exit code N
#   bounded S MB CMD   CMD ends within S seconds and MB megabytes of resident memory; its exit code goes through
# Features for REQUIRES: ptxas, cuda, aarch64, asan, verify-each.

import ctypes
import os
import shutil

import lit.formats

config.name = "fsc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".dsl", ".ir", ".test", ".py"]
config.excludes = ["Inputs", "unit", "runtime", "run", "slow", "more", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.binary_root, "tests")

for name in ("FSC_PTXAS", "CUDA_VISIBLE_DEVICES", "CUDA_PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["LSAN_OPTIONS"] = "suppressions=%s/lsan.supp:print_suppressions=0" % config.test_source_root
config.environment["FSC_CACHE_DIR"] = "off"  # a case of the cache names a folder of its own
config.environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
config.environment.setdefault("ASAN_OPTIONS", "quarantine_size_mb=16")  # as in the runs: tests/CMakeLists.txt


def word(name):
    """`name` as a whole word of a RUN line: not a part of a path, a file name or an option."""
    return r"(?<![\w./%%:=-])%s(?![\w./-])" % name


# `count` and `not --crash` lie beside FileCheck.
config.environment["PATH"] = os.pathsep.join([os.environ["PATH"], os.path.dirname(config.filecheck)])
helpers = os.path.join(config.test_source_root, "Inputs")
config.substitutions += [
    (word("fsc"), config.fsc_tool),
    (word("FileCheck"), config.filecheck),
    (word("exits"), "%s %s/exits.py" % (config.python, helpers)),
    (word("bounded"), "%s %s/bounded.py %d" % (config.python, helpers, 8 if config.sanitize else 1)),
    ("%python", config.python),
    ("%bench", os.path.join(config.source_root, "bench")),
    ("%libfsc", os.path.join(config.binary_root, "libfsc.so")),
    ("%runtime", os.path.join(config.binary_root, "libfsc-runtime.so")),
    ("%libraries", config.binary_root),
    ("%headers", os.path.join(config.source_root, "compiler")),
    ("%fakecuda", os.path.join(config.binary_root, "tests/unit/libfakecuda.so")),
    ("%examples", os.path.join(config.source_root, "dsl_examples")),
]


def find_ptxas():
    """FSC_PTXAS, else PATH, else a CUDA toolkit in its usual place, else what `bootstrap --with-ptxas` fetched."""
    fetched = os.path.join(config.source_root, "build/ptxas/bin/ptxas")
    for place in (os.environ.get("FSC_PTXAS"), shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas", fetched):
        if place and os.access(place, os.X_OK):
            return place
    return None


def has_cuda_device():
    """True where the driver loads and reports at least one device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.environment["FSC_PTXAS"] = ptxas
    config.substitutions.append(("%ptxas", ptxas))
else:
    lit_config.note("ptxas not found: the cases that assemble PTX are skipped")
if has_cuda_device():
    config.available_features.add("cuda")
else:
    lit_config.note("no CUDA device: the cases that need one are skipped")
if config.has_aarch64:
    config.available_features.add("aarch64")
if config.sanitize:
    config.available_features.add("asan")
if config.verify_each:
    config.available_features.add("verify-each")
