# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Pointer annotations: const, long names, shape contracts with extents and strides.
@jit
def f(a: *fp32, b: *const fp16, c: *tl.float32, d: *T[n], e: *const T[n:s, m:1], g: *fp32[2 * n, (m + 1) // 2 : k] = None):
    pass
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    param a
# CHECK-NEXT:      type: pointer
# CHECK-NEXT:        name fp32
# CHECK-NEXT:    param b
# CHECK-NEXT:      type: pointer const
# CHECK-NEXT:        name fp16
# CHECK-NEXT:    param c
# CHECK-NEXT:      type: pointer
# CHECK-NEXT:        attribute float32
# CHECK-NEXT:          name tl
# CHECK-NEXT:    param d
# CHECK-NEXT:      type: pointer
# CHECK-NEXT:        name T
# CHECK-NEXT:        dim
# CHECK-NEXT:          extent: name n
# CHECK-NEXT:    param e
# CHECK-NEXT:      type: pointer const
# CHECK-NEXT:        name T
# CHECK-NEXT:        dim
# CHECK-NEXT:          extent: name n
# CHECK-NEXT:          stride: name s
# CHECK-NEXT:        dim
# CHECK-NEXT:          extent: name m
# CHECK-NEXT:          stride: int 1
# CHECK-NEXT:    param g
# CHECK-NEXT:      type: pointer
# CHECK-NEXT:        name fp32
# CHECK-NEXT:        dim
# CHECK-NEXT:          extent: binary *
# CHECK-NEXT:            int 2
# CHECK-NEXT:            name n
# CHECK-NEXT:        dim
# CHECK-NEXT:          extent: binary //
# CHECK-NEXT:            binary +
# CHECK-NEXT:              name m
# CHECK-NEXT:              int 1
# CHECK-NEXT:            int 2
# CHECK-NEXT:          stride: name k
# CHECK-NEXT:      default: None
# CHECK-NEXT:    pass
# CHECK-NOT:{{.}}
