# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Parameters: bare, annotated, with defaults, starred; a trailing comma.
@jit
def f(a, b=1, c: i32, d: tl.constexpr = 4, e: "text" = None, *g, **h):
    pass
@jit
def g(
    a,
    b: fp32,
): pass
@jit
def h(): pass
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    param a
# CHECK-NEXT:    param b
# CHECK-NEXT:      default: int 1
# CHECK-NEXT:    param c
# CHECK-NEXT:      type: name i32
# CHECK-NEXT:    param d
# CHECK-NEXT:      type: attribute constexpr
# CHECK-NEXT:        name tl
# CHECK-NEXT:      default: int 4
# CHECK-NEXT:    param e
# CHECK-NEXT:      type: string "text"
# CHECK-NEXT:      default: None
# CHECK-NEXT:    param *g
# CHECK-NEXT:    param **h
# CHECK-NEXT:    pass
# CHECK-NEXT:  function g
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    param a
# CHECK-NEXT:    param b
# CHECK-NEXT:      type: name fp32
# CHECK-NEXT:    pass
# CHECK-NEXT:  function h
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    pass
# CHECK-NOT:{{.}}
