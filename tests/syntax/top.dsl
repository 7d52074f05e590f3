# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Constants at the top of a file.
LOG2E: constexpr = 1.44
LN2: tl.constexpr = 1 / LOG2E
X = tl.constexpr(3)
PAIR = 1, 2
y = -inf
# CHECK:module
# CHECK-NEXT:  constant LOG2E
# CHECK-NEXT:    value: float 1.4399999999999999
# CHECK-NEXT:    type: name constexpr
# CHECK-NEXT:  constant LN2
# CHECK-NEXT:    value: binary /
# CHECK-NEXT:      int 1
# CHECK-NEXT:      name LOG2E
# CHECK-NEXT:    type: attribute constexpr
# CHECK-NEXT:      name tl
# CHECK-NEXT:  constant X
# CHECK-NEXT:    value: call
# CHECK-NEXT:      callee: attribute constexpr
# CHECK-NEXT:        name tl
# CHECK-NEXT:      int 3
# CHECK-NEXT:  constant PAIR
# CHECK-NEXT:    value: tuple
# CHECK-NEXT:      int 1
# CHECK-NEXT:      int 2
# CHECK-NEXT:  constant y
# CHECK-NEXT:    value: unary -
# CHECK-NEXT:      name inf
# CHECK-NOT:{{.}}
