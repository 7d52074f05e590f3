# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Tuples and lists, with and without parentheses.
@jit
def f():
    x = a, b
    x = a,
    x = (a, b,)
    x = ()
    x = (a)
    x = []
    x = [a, b]
    x = [a,]
    x = (a, (b, c)), d
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: name a
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: list
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: list
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: list
# CHECK-NEXT:        name a
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        tuple
# CHECK-NEXT:          name a
# CHECK-NEXT:          tuple
# CHECK-NEXT:            name b
# CHECK-NEXT:            name c
# CHECK-NEXT:        name d
# CHECK-NOT:{{.}}
