# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Blocks in blocks, closed several at a time.
@jit
def f():
    for i in a:
        if b:
            while c:
                x = 1
        y = 2
    if d:
      if e:
         x = 3
    z = 4
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    for
# CHECK-NEXT:      target: name i
# CHECK-NEXT:      in: name a
# CHECK-NEXT:      if
# CHECK-NEXT:        condition: name b
# CHECK-NEXT:        while
# CHECK-NEXT:          condition: name c
# CHECK-NEXT:          assign
# CHECK-NEXT:            target: name x
# CHECK-NEXT:            value: int 1
# CHECK-NEXT:      assign
# CHECK-NEXT:        target: name y
# CHECK-NEXT:        value: int 2
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name d
# CHECK-NEXT:      if
# CHECK-NEXT:        condition: name e
# CHECK-NEXT:        assign
# CHECK-NEXT:          target: name x
# CHECK-NEXT:          value: int 3
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name z
# CHECK-NEXT:      value: int 4
# CHECK-NOT:{{.}}
