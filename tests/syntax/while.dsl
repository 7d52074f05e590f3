# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# while, with else.
@jit
def f():
    while a < b:
        a += 1
    while True: break
    else: x = 1
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    while
# CHECK-NEXT:      condition: compare <
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:      augment +
# CHECK-NEXT:        target: name a
# CHECK-NEXT:        value: int 1
# CHECK-NEXT:    while
# CHECK-NEXT:      condition: True
# CHECK-NEXT:      break
# CHECK-NEXT:      else: assign
# CHECK-NEXT:        target: name x
# CHECK-NEXT:        value: int 1
# CHECK-NOT:{{.}}
