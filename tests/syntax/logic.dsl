# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# and, or, not: not over comparisons, and over or.
@jit
def f():
    x = a and b or c and not d
    x = a or b or c
    x = not a < b
    x = (a or b) and c
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: or
# CHECK-NEXT:        and
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        and
# CHECK-NEXT:          name c
# CHECK-NEXT:          unary not
# CHECK-NEXT:            name d
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: or
# CHECK-NEXT:        or
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: unary not
# CHECK-NEXT:        compare <
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: and
# CHECK-NEXT:        or
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NOT:{{.}}
