# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# for with one target and several, over a tuple, with else, break and continue.
@jit
def f():
    for i in range(0, n, 2):
        continue
    for a, b in c: break
    for i, in d:
        pass
    for (a, b) in 1, 2:
        pass
    else:
        x = 1
    for x[0] in y:
        for x.z in y:
            pass
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    for
# CHECK-NEXT:      target: name i
# CHECK-NEXT:      in: call
# CHECK-NEXT:        callee: name range
# CHECK-NEXT:        int 0
# CHECK-NEXT:        name n
# CHECK-NEXT:        int 2
# CHECK-NEXT:      continue
# CHECK-NEXT:    for
# CHECK-NEXT:      target: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:      in: name c
# CHECK-NEXT:      break
# CHECK-NEXT:    for
# CHECK-NEXT:      target: tuple
# CHECK-NEXT:        name i
# CHECK-NEXT:      in: name d
# CHECK-NEXT:      pass
# CHECK-NEXT:    for
# CHECK-NEXT:      target: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:      in: tuple
# CHECK-NEXT:        int 1
# CHECK-NEXT:        int 2
# CHECK-NEXT:      pass
# CHECK-NEXT:      else: assign
# CHECK-NEXT:        target: name x
# CHECK-NEXT:        value: int 1
# CHECK-NEXT:    for
# CHECK-NEXT:      target: subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: int 0
# CHECK-NEXT:      in: name y
# CHECK-NEXT:      for
# CHECK-NEXT:        target: attribute z
# CHECK-NEXT:          name x
# CHECK-NEXT:        in: name y
# CHECK-NEXT:        pass
# CHECK-NOT:{{.}}
