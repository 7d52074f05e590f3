# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Names, attributes and calls of every argument form.
@jit
def f():
    a
    _b2.c.d
    g()
    g(a, 1, k=2)
    g(a,)
    g(*args, **options)
    g(a)(b)[c].d()
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    expr
# CHECK-NEXT:      name a
# CHECK-NEXT:    expr
# CHECK-NEXT:      attribute d
# CHECK-NEXT:        attribute c
# CHECK-NEXT:          name _b2
# CHECK-NEXT:    expr
# CHECK-NEXT:      call
# CHECK-NEXT:        callee: name g
# CHECK-NEXT:    expr
# CHECK-NEXT:      call
# CHECK-NEXT:        callee: name g
# CHECK-NEXT:        name a
# CHECK-NEXT:        int 1
# CHECK-NEXT:        keyword k
# CHECK-NEXT:          int 2
# CHECK-NEXT:    expr
# CHECK-NEXT:      call
# CHECK-NEXT:        callee: name g
# CHECK-NEXT:        name a
# CHECK-NEXT:    expr
# CHECK-NEXT:      call
# CHECK-NEXT:        callee: name g
# CHECK-NEXT:        star
# CHECK-NEXT:          name args
# CHECK-NEXT:        starstar
# CHECK-NEXT:          name options
# CHECK-NEXT:    expr
# CHECK-NEXT:      call
# CHECK-NEXT:        callee: attribute d
# CHECK-NEXT:          subscript
# CHECK-NEXT:            call
# CHECK-NEXT:              callee: call
# CHECK-NEXT:                callee: name g
# CHECK-NEXT:                name a
# CHECK-NEXT:              name b
# CHECK-NEXT:            index: name c
# CHECK-NOT:{{.}}
