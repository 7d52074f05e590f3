# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Subscripts: indexes, None, slices in every form, a trailing comma.
@jit
def f():
    x[:, None]
    x[None, :]
    x[1, 2,]
    x[1:2]
    x[1:2:3]
    x[::2]
    x[:b]
    x[a:]
    x[...]
    x[a][b]
    x[(a, b)]
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: slice
# CHECK-NEXT:        index: None
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: None
# CHECK-NEXT:        index: slice
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: int 1
# CHECK-NEXT:        index: int 2
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: slice
# CHECK-NEXT:          from: int 1
# CHECK-NEXT:          to: int 2
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: slice
# CHECK-NEXT:          from: int 1
# CHECK-NEXT:          to: int 2
# CHECK-NEXT:          step: int 3
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: slice
# CHECK-NEXT:          step: int 2
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: slice
# CHECK-NEXT:          to: name b
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: slice
# CHECK-NEXT:          from: name a
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: ellipsis
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        subscript
# CHECK-NEXT:          name x
# CHECK-NEXT:          index: name a
# CHECK-NEXT:        index: name b
# CHECK-NEXT:    expr
# CHECK-NEXT:      subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: tuple
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NOT:{{.}}
