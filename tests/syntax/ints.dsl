# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Integers in every base, with underscores, up to 2^64 - 1.
@jit
def f():
    x = 0
    x = 1_000
    x = 0xff
    x = 0XF_F
    x = 0o17
    x = 0b10_1
    x = 18446744073709551615
    x = -1
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 0
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1000
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 255
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 255
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 15
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 5
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 18446744073709551615
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: unary -
# CHECK-NEXT:        int 1
# CHECK-NOT:{{.}}
