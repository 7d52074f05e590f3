# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Every augmented assignment.
@jit
def f():
    x += 1
    x -= 1
    x *= 1
    x /= 1
    x //= 1
    x %= 1
    x **= 1
    x @= y
    x &= 1
    x |= 1
    x ^= 1
    x <<= 1
    x >>= 1
    x[0] += a, b
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    augment +
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment -
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment *
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment /
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment //
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment %
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment **
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment @
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: name y
# CHECK-NEXT:    augment &
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment |
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment ^
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment <<
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment >>
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:    augment +
# CHECK-NEXT:      target: subscript
# CHECK-NEXT:        name x
# CHECK-NEXT:        index: int 0
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        name a
# CHECK-NEXT:        name b
# CHECK-NOT:{{.}}
