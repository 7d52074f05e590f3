# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Comprehensions in lists, parentheses and calls.
@jit
def f():
    x = [a * 2 for a in b]
    x = (a for a in b if a if c)
    x = g(a for a, b in c)
    x = [i for (i, j) in d if i < j]
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: comprehension
# CHECK-NEXT:        element: binary *
# CHECK-NEXT:          name a
# CHECK-NEXT:          int 2
# CHECK-NEXT:        for: name a
# CHECK-NEXT:        in: name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: comprehension
# CHECK-NEXT:        element: name a
# CHECK-NEXT:        for: name a
# CHECK-NEXT:        in: name b
# CHECK-NEXT:        if: name a
# CHECK-NEXT:        if: name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: call
# CHECK-NEXT:        callee: name g
# CHECK-NEXT:        comprehension
# CHECK-NEXT:          element: name a
# CHECK-NEXT:          for: tuple
# CHECK-NEXT:            name a
# CHECK-NEXT:            name b
# CHECK-NEXT:          in: name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: comprehension
# CHECK-NEXT:        element: name i
# CHECK-NEXT:        for: tuple
# CHECK-NEXT:          name i
# CHECK-NEXT:          name j
# CHECK-NEXT:        in: name d
# CHECK-NEXT:        if: compare <
# CHECK-NEXT:          name i
# CHECK-NEXT:          name j
# CHECK-NOT:{{.}}
