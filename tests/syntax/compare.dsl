# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Every comparison; a chain is one node, parentheses start another.
@jit
def f():
    x = a < b
    x = a <= b
    x = a > b
    x = a >= b
    x = a == b
    x = a != b
    x = a in b
    x = a not in b
    x = a is b
    x = a is not None
    x = 0 <= a < b != c
    x = (a < b) < c
    x = a < (b < c)
    x = a | b < c
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare <
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare <=
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare >
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare >=
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare ==
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare !=
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare in
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare not in
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare is
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare is not
# CHECK-NEXT:        name a
# CHECK-NEXT:        None
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare <= < !=
# CHECK-NEXT:        int 0
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare <
# CHECK-NEXT:        compare <
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare <
# CHECK-NEXT:        name a
# CHECK-NEXT:        compare <
# CHECK-NEXT:          name b
# CHECK-NEXT:          name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: compare <
# CHECK-NEXT:        binary |
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NOT:{{.}}
