# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Lines are joined inside brackets and by a backslash; comments and blank lines leave nothing.
@jit
def f():
    x = (a +  # first

         b
      + c)
    y = a + \
      b
    z = g(
    a,
        b)[
     c]
       # a comment at another level

    # and one here
    if a and \
       b:
            x = 1  # eight columns are as good as four
            # trailing
    y = {
    }
# at the top
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary +
# CHECK-NEXT:        binary +
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name y
# CHECK-NEXT:      value: binary +
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name z
# CHECK-NEXT:      value: subscript
# CHECK-NEXT:        call
# CHECK-NEXT:          callee: name g
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        index: name c
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: and
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NEXT:      assign
# CHECK-NEXT:        target: name x
# CHECK-NEXT:        value: int 1
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name y
# CHECK-NEXT:      value: dict
# CHECK-NOT:{{.}}
