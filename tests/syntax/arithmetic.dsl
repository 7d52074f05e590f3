# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Every arithmetic operator, with its precedence.
@jit
def f():
    x = a + b - c
    x = a * b / c // d % e @ g
    x = a + b * c
    x = (a + b) * c
    x = a ** b ** c
    x = a - (b - c)
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary -
# CHECK-NEXT:        binary +
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary @
# CHECK-NEXT:        binary %
# CHECK-NEXT:          binary //
# CHECK-NEXT:            binary /
# CHECK-NEXT:              binary *
# CHECK-NEXT:                name a
# CHECK-NEXT:                name b
# CHECK-NEXT:              name c
# CHECK-NEXT:            name d
# CHECK-NEXT:          name e
# CHECK-NEXT:        name g
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary +
# CHECK-NEXT:        name a
# CHECK-NEXT:        binary *
# CHECK-NEXT:          name b
# CHECK-NEXT:          name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary *
# CHECK-NEXT:        binary +
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary **
# CHECK-NEXT:        name a
# CHECK-NEXT:        binary **
# CHECK-NEXT:          name b
# CHECK-NEXT:          name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary -
# CHECK-NEXT:        name a
# CHECK-NEXT:        binary -
# CHECK-NEXT:          name b
# CHECK-NEXT:          name c
# CHECK-NOT:{{.}}
