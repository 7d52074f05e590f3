# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# return, assert, pass, several statements on a line.
@jit
def f():
    assert a
    assert a < b, "message"
    pass; pass;
    if a: return
    if b: return a
    return a, b
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assert
# CHECK-NEXT:      name a
# CHECK-NEXT:    assert
# CHECK-NEXT:      compare <
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:      string "message"
# CHECK-NEXT:    pass
# CHECK-NEXT:    pass
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name a
# CHECK-NEXT:      return
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name b
# CHECK-NEXT:      return
# CHECK-NEXT:        name a
# CHECK-NEXT:    return
# CHECK-NEXT:      tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NOT:{{.}}
