# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Dicts.
@jit
def f():
    x = {}
    x = {"a": 1}
    x = {"a": 1, b: [2],}
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: dict
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: dict
# CHECK-NEXT:        string "a"
# CHECK-NEXT:        int 1
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: dict
# CHECK-NEXT:        string "a"
# CHECK-NEXT:        int 1
# CHECK-NEXT:        name b
# CHECK-NEXT:        list
# CHECK-NEXT:          int 2
# CHECK-NOT:{{.}}
