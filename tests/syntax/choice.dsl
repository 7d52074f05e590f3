# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Conditional expressions nest to the right.
@jit
def f():
    x = a if c else b
    x = a if c else b if d else e
    x = (a if c else b) if d else e
    x = a or b if c and d else not e
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: choice
# CHECK-NEXT:        value: name a
# CHECK-NEXT:        if: name c
# CHECK-NEXT:        else: name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: choice
# CHECK-NEXT:        value: name a
# CHECK-NEXT:        if: name c
# CHECK-NEXT:        else: choice
# CHECK-NEXT:          value: name b
# CHECK-NEXT:          if: name d
# CHECK-NEXT:          else: name e
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: choice
# CHECK-NEXT:        value: choice
# CHECK-NEXT:          value: name a
# CHECK-NEXT:          if: name c
# CHECK-NEXT:          else: name b
# CHECK-NEXT:        if: name d
# CHECK-NEXT:        else: name e
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: choice
# CHECK-NEXT:        value: or
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        if: and
# CHECK-NEXT:          name c
# CHECK-NEXT:          name d
# CHECK-NEXT:        else: unary not
# CHECK-NEXT:          name e
# CHECK-NOT:{{.}}
