# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# if, elif, else; an elif is an if in the else.
@jit
def f():
    if a:
        pass
    if a: x = 1; y = 2
    if a:
        x = 1
    elif b:
        x = 2
    elif c:
        x = 3
    else:
        x = 4
    if a:
        x = 1
    else:
        if b:
            x = 2
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name a
# CHECK-NEXT:      pass
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name a
# CHECK-NEXT:      assign
# CHECK-NEXT:        target: name x
# CHECK-NEXT:        value: int 1
# CHECK-NEXT:      assign
# CHECK-NEXT:        target: name y
# CHECK-NEXT:        value: int 2
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name a
# CHECK-NEXT:      assign
# CHECK-NEXT:        target: name x
# CHECK-NEXT:        value: int 1
# CHECK-NEXT:      else: if
# CHECK-NEXT:        condition: name b
# CHECK-NEXT:        assign
# CHECK-NEXT:          target: name x
# CHECK-NEXT:          value: int 2
# CHECK-NEXT:        else: if
# CHECK-NEXT:          condition: name c
# CHECK-NEXT:          assign
# CHECK-NEXT:            target: name x
# CHECK-NEXT:            value: int 3
# CHECK-NEXT:          else: assign
# CHECK-NEXT:            target: name x
# CHECK-NEXT:            value: int 4
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name a
# CHECK-NEXT:      assign
# CHECK-NEXT:        target: name x
# CHECK-NEXT:        value: int 1
# CHECK-NEXT:      else: if
# CHECK-NEXT:        condition: name b
# CHECK-NEXT:        assign
# CHECK-NEXT:          target: name x
# CHECK-NEXT:          value: int 2
# CHECK-NOT:{{.}}
