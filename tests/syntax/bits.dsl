# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Shifts and bitwise operators: | under ^ under & under << >> under +.
@jit
def f():
    x = a | b ^ c & d << e + g
    x = a >> b << c
    x = (a | b) & c
    x = a + b << 1
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary |
# CHECK-NEXT:        name a
# CHECK-NEXT:        binary ^
# CHECK-NEXT:          name b
# CHECK-NEXT:          binary &
# CHECK-NEXT:            name c
# CHECK-NEXT:            binary <<
# CHECK-NEXT:              name d
# CHECK-NEXT:              binary +
# CHECK-NEXT:                name e
# CHECK-NEXT:                name g
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary <<
# CHECK-NEXT:        binary >>
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary &
# CHECK-NEXT:        binary |
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        name c
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: binary <<
# CHECK-NEXT:        binary +
# CHECK-NEXT:          name a
# CHECK-NEXT:          name b
# CHECK-NEXT:        int 1
# CHECK-NOT:{{.}}
