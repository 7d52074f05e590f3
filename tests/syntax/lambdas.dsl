# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Lambdas with every kind of parameter.
@jit
def f():
    x = lambda: 0
    x = lambda a: a + 1
    x = lambda a, b=2, *c, **d: (a, b)
    x = lambda a: lambda b: a if b else c
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: lambda
# CHECK-NEXT:        body: int 0
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: lambda
# CHECK-NEXT:        body: binary +
# CHECK-NEXT:          name a
# CHECK-NEXT:          int 1
# CHECK-NEXT:        param a
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: lambda
# CHECK-NEXT:        body: tuple
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        param a
# CHECK-NEXT:        param b
# CHECK-NEXT:          default: int 2
# CHECK-NEXT:        param *c
# CHECK-NEXT:        param **d
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: lambda
# CHECK-NEXT:        body: lambda
# CHECK-NEXT:          body: choice
# CHECK-NEXT:            value: name a
# CHECK-NEXT:            if: name b
# CHECK-NEXT:            else: name c
# CHECK-NEXT:          param b
# CHECK-NEXT:        param a
# CHECK-NOT:{{.}}
