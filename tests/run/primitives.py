"""primitives.py - which device primitives a kernel calls: the rows of prims.def, and what the cases are for."""
import ctypes as c
import os
import re

import fsc
from case import EXAMPLES, case

PRIMS = os.path.join(EXAMPLES, "..", "compiler", "codegen", "prims.def")
# access_of in codegen/simt/access/pack.c
SHAPES = ["v1.b8", "v1.b16", "v1.b32", "v2.b32", "v4.b32", "v1.b64", "v2.b64"]
UNREACHABLE = {  # row: why no kernel calls it
    "atomic.rmw.v1.b16": "the emulator adds small floats by compare-and-swap",
    "store.async.v1.b8": "counted buffers have elements of 4 or 8 bytes",
    "store.async.v1.b16": "likewise",
    "ldmatrix": "no op calls it yet; tests/runtime/emu/matrix_test.c",
    "stmatrix": "likewise",
    "record.step": "only code that records calls it (tests/tool/viz*.py)",
    "record.value": "only code that records calls it (tests/tool/viz*.py)",
}
SINGLE = ["v1.b16", "v1.b32", "v1.b64"]  # of atomics
TESTED = set()  # names of primitives that cases are for, with the access's shape where there is one


def rows():
    """Names of the rows: those with an access, and those without."""
    with open(PRIMS, encoding="utf-8") as f:
        found = re.findall(r'^PRIM\(\w+,\s*"([^"]+)",\s*"(\w*)",\s*"(\w*)"', f.read(), re.M)
    assert found, "prims.def has no rows in the form that is read here"
    access = [name for name, result, operands in found if "A" in result + operands]
    return access, [name for name, _, _ in found if name not in access]


def calls(source, args, names, arch="sm_80", **options):
    """The primitives that the per-thread module calls, compiled for these arguments as a launch would; `names` are the
    parameters' names in order."""
    divisible = {}
    for name, x in zip(names, args):
        number = x.address if isinstance(x, fsc.Buffer) else x
        if isinstance(number, int) and number % 16 == 0:
            divisible[name] = 16
    text = fsc_threads(source, arch, divisible, **options)
    return set(re.findall(r"call [^@\n]*@fsc\.([\w.]+)\(", text))


def fsc_threads(source, arch, divisible, defines=None, types=None, **options):
    """The per-thread module of the source, as text."""
    lib = fsc.lib
    lib.fsc_compilation_output.restype = lib.fsc_compilation_diagnostics.restype = c.c_char_p
    o = fsc.CompileOptions()
    lib.fsc_compile_options_init(c.byref(o))
    tables = [fsc._pairs(t or {}) for t in (defines, types, divisible)]
    o.emit, o.arch = 3, arch.encode()  # FSC_EMIT_THREADS
    (o.defines, o.num_defines), (o.types, o.num_types), (o.divisible, o.num_divisible) = tables
    for k, v in options.items():
        setattr(o, k, v)
    compilation, text = c.c_void_p(), source.encode()
    status = lib.fsc_compile(c.byref(o), text, c.c_size_t(len(text)), c.byref(compilation))
    output = lib.fsc_compilation_output(compilation, None).decode()
    diagnostics = lib.fsc_compilation_diagnostics(compilation).decode()
    lib.fsc_compilation_destroy(compilation)
    fsc.check(status, diagnostics.encode())
    return output


def parameters(source):
    return re.findall(r"(\w+)\s*:", source[source.index("def f("):].split("):")[0])


def run(bench, prims, source, *args, **options):
    """Launches the kernel, having seen that it calls `prims`, in the module for the GPU and in the emulator's."""
    is_new = "num_ctas" in options or any("e4m3" in prim for prim in prims)
    for arch in ("sm_90" if is_new else "sm_80", "emu"):
        called = calls(source, args, parameters(source), arch, **options)
        missing = set(prims) - called
        assert not missing, f"{arch}: the kernel calls {sorted(called)}, not {sorted(missing)}"
    bench.run(source, *args, **options)


def tests(*prims):
    TESTED.update(prims)
    return case
