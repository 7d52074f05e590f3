# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Imports of every form are ignored, at the top and in functions.
import triton
import triton.language as tl, torch
from triton import jit
from triton.language import (exp, log as ln,)
from . import a
from ..b.c import *
from ... import d
from .e import g, h
@jit
def f():
    import math
    from a import b
    x = 1
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    pass
# CHECK-NEXT:    pass
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NOT:{{.}}
