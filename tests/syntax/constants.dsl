# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# True, False, None and the ellipsis.
@jit
def f():
    x = True, False
    x = None
    x = ...
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        True
# CHECK-NEXT:        False
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: None
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: ellipsis
# CHECK-NOT:{{.}}
