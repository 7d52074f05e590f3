# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Annotated assignments, with and without a value.
@jit
def f():
    x: fp32 = 1.0
    n: tl.constexpr = 4
    y: i32
    t: tuple = 1, 2
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    annotate
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      type: name fp32
# CHECK-NEXT:      value: float 1
# CHECK-NEXT:    annotate
# CHECK-NEXT:      target: name n
# CHECK-NEXT:      type: attribute constexpr
# CHECK-NEXT:        name tl
# CHECK-NEXT:      value: int 4
# CHECK-NEXT:    annotate
# CHECK-NEXT:      target: name y
# CHECK-NEXT:      type: name i32
# CHECK-NEXT:    annotate
# CHECK-NEXT:      target: name t
# CHECK-NEXT:      type: name tuple
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        int 1
# CHECK-NEXT:        int 2
# CHECK-NOT:{{.}}
