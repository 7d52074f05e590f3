# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Unary operators bind more tightly than binary ones, but for the power.
@jit
def f():
    x = -a + +b
    x = ~a & -b
    x = -a ** -b
    x = not a
    x = not not a
    x = - - ~a
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary +
# CHECK-NEXT:        unary -
# CHECK-NEXT:          name a
# CHECK-NEXT:        unary +
# CHECK-NEXT:          name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary &
# CHECK-NEXT:        unary ~
# CHECK-NEXT:          name a
# CHECK-NEXT:        unary -
# CHECK-NEXT:          name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: unary -
# CHECK-NEXT:        binary **
# CHECK-NEXT:          name a
# CHECK-NEXT:          unary -
# CHECK-NEXT:            name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: unary not
# CHECK-NEXT:        name a
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: unary not
# CHECK-NEXT:        unary not
# CHECK-NEXT:          name a
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: unary -
# CHECK-NEXT:        unary -
# CHECK-NEXT:          unary ~
# CHECK-NEXT:            name a
# CHECK-NOT:{{.}}
