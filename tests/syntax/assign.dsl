# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Assignment: chains, tuples, subscripts, attributes, lists.
@jit
def f():
    x = 1
    x = y = z = 1
    a, b = b, a
    (a, b), c = d
    [a, b] = c
    x[0] = 1
    x.y = 1
    a, = b
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      target: name y
# CHECK-NEXT:      target: name z
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        name b
# CHECK-NEXT:        name a
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: tuple
# CHECK-NEXT:        tuple
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:      value: name d
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: list
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:      value: name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: int 0
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: attribute y
# CHECK-NEXT:        name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:      value: name b
# CHECK-NOT:{{.}}
