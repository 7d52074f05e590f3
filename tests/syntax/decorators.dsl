# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Decorators: names, calls, several; a blank line and a comment between.
@kernel(grid=(n, 2), BLOCK=min(1024, n), require=(n >= 1, BLOCK % 2 == 0), num_warps=4 if n > 1 else 2)
def a(n):
    pass
@triton.autotune(configs=[triton.Config({'B': 1}, num_warps=2)], key=['n'])

# between
@triton.jit
def b(n): pass
@triton.jit()
def c() -> fp32: return 1.0
# CHECK:module
# CHECK-NEXT:  function a
# CHECK-NEXT:    decorator: call
# CHECK-NEXT:      callee: name kernel
# CHECK-NEXT:      keyword grid
# CHECK-NEXT:        tuple
# CHECK-NEXT:          name n
# CHECK-NEXT:          int 2
# CHECK-NEXT:      keyword BLOCK
# CHECK-NEXT:        call
# CHECK-NEXT:          callee: name min
# CHECK-NEXT:          int 1024
# CHECK-NEXT:          name n
# CHECK-NEXT:      keyword require
# CHECK-NEXT:        tuple
# CHECK-NEXT:          compare >=
# CHECK-NEXT:            name n
# CHECK-NEXT:            int 1
# CHECK-NEXT:          compare ==
# CHECK-NEXT:            binary %
# CHECK-NEXT:              name BLOCK
# CHECK-NEXT:              int 2
# CHECK-NEXT:            int 0
# CHECK-NEXT:      keyword num_warps
# CHECK-NEXT:        choice
# CHECK-NEXT:          value: int 4
# CHECK-NEXT:          if: compare >
# CHECK-NEXT:            name n
# CHECK-NEXT:            int 1
# CHECK-NEXT:          else: int 2
# CHECK-NEXT:    param n
# CHECK-NEXT:    pass
# CHECK-NEXT:  function b
# CHECK-NEXT:    decorator: call
# CHECK-NEXT:      callee: attribute autotune
# CHECK-NEXT:        name triton
# CHECK-NEXT:      keyword configs
# CHECK-NEXT:        list
# CHECK-NEXT:          call
# CHECK-NEXT:            callee: attribute Config
# CHECK-NEXT:              name triton
# CHECK-NEXT:            dict
# CHECK-NEXT:              string "B"
# CHECK-NEXT:              int 1
# CHECK-NEXT:            keyword num_warps
# CHECK-NEXT:              int 2
# CHECK-NEXT:      keyword key
# CHECK-NEXT:        list
# CHECK-NEXT:          string "n"
# CHECK-NEXT:    decorator: attribute jit
# CHECK-NEXT:      name triton
# CHECK-NEXT:    param n
# CHECK-NEXT:    pass
# CHECK-NEXT:  function c
# CHECK-NEXT:    decorator: call
# CHECK-NEXT:      callee: attribute jit
# CHECK-NEXT:        name triton
# CHECK-NEXT:    return
# CHECK-NEXT:      float 1
# CHECK-NOT:{{.}}
