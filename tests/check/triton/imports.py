# RUN: not fsc --emit=tile --passes= --kernel k --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=ERROR %s
# RUN: fsc --emit=tile --passes= --kernel ok --signature "*fp32" %s -o - | FileCheck %s
# Imports bind the language's modules, builtins and types under any name; those of other files are refused by name.
import math, triton, triton.language as L
import triton.language.math as lm
from triton.language.extra import libdevice as dev
from triton.language.extra.cuda.libdevice import rsqrt as reciprocal_root
from triton.language.extra.libdevice import round as away
from triton.language import (constexpr, float32 as real,)
from . import tools
from some.package.ops import softer as soft, harder


@triton.jit
def k(x):
    # ERROR: imports.py:[[#@LINE+2]]:9: error: 'soft' comes from some.package.ops, which is not found [E0203]
    # ERROR: it is imported here; -I FOLDER says where that is, or copy its definition into this file
    v = soft(L.load(x))
    # ERROR: error: 'tools' comes from .tools, which is not found
    tools.run(v)


# CHECK: func @ok
# CHECK: rsqrt
# CHECK: sqrt
# CHECK: exp
# CHECK: const 16.0
@triton.jit
def ok(x, N: constexpr = 16):
    p = x + L.arange(0, N)
    v = reciprocal_root(L.load(p)).to(real)
    L.store(p, dev.sqrt(v) + lm.exp(v) + N + away(v))
