# RUN: not fsc --kernel deeper --signature "*fp32" %s -o - 2>&1 | FileCheck %s
# RUN: fsc --emit=tile --passes= --kernel outer --signature "*fp32" %s -o - | FileCheck --check-prefix=OUTER %s
# A suite whose lines stand crooked, left of their function's head: an error at its place, as for Python,
# and of that function alone.
import triton
import triton.language as tl

if True:
  @triton.jit
      # CHECK: crooked.py:[[#@LINE+1]]:21: error: found the end of the function where an indented block is expected [E0119]
      def deeper(x):
    tl.store(x, 1.0)
   tl.store(x, 2.0)

  @triton.jit
def outer(x):
    # OUTER: const 3.0
    tl.store(x, 3.0)
