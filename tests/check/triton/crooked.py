# RUN: not fsc --kernel outer --signature "*fp32" %s -o - 2>&1 | FileCheck %s
# A suite whose lines stand crooked, left of their function's head: an error at its place, as for Python.
import triton
import triton.language as tl

if True:
  @triton.jit
      def deeper(x):
    tl.store(x, 1.0)
   tl.store(x, 2.0)

  # CHECK: crooked.py:[[#@LINE+1]]:3: error: found '@' where an indented block is expected [E0119]
  @triton.jit
def outer(x):
    tl.store(x, 3.0)
