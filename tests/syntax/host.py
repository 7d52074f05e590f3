# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# In a .py file only imports, constants (NAME = one expression) and functions under @jit or @kernel count.
"""A file as a tutorial has it."""
import torch
import triton.language as tl
from triton.runtime import driver

DEVICE = triton.runtime.driver.active.get_active_torch_device()
SCALE: tl.constexpr = 2.5
TABLE = {"a": 1}
NAMES = [n for n in range(3)]
properties = driver.active.utils.get_device_properties(DEVICE.index)


def is_hip():
    return triton.runtime.driver.active.get_current_target().backend == "hip"


class Host(torch.nn.Module):
    def forward(self, x): return (yield x)

    @torch.no_grad()
    def g(self):
        pass


@triton.jit
def kernel(x, n, B: tl.constexpr):
    # a comment
    i = tl.arange(0, B)

    tl.store(x + i, i, mask=i < n)


kernels = {}


@torch.jit.script
def scripted(x):
    return x


@functools.cache
def cached(x):
    async with x as y: raise y


@triton.testing.perf_report(
    triton.testing.Benchmark(x_names=['N'], x_vals=[128 * i for i in range(2, 100)]))
def benchmark(N):
    if (m := N) > 0:
        try: pass
        finally: pass
    return m
if __name__ == "__main__":
    benchmark.run(show_plots=True)
@jit
def last(a): return a
for i in NAMES:
  print(f"{i}")
# CHECK:module
# CHECK-NEXT:  constant DEVICE
# CHECK-NEXT:    value: call
# CHECK-NEXT:      callee: attribute get_active_torch_device
# CHECK-NEXT:        attribute active
# CHECK-NEXT:          attribute driver
# CHECK-NEXT:            attribute runtime
# CHECK-NEXT:              name triton
# CHECK-NEXT:  constant SCALE
# CHECK-NEXT:    value: float 2.5
# CHECK-NEXT:    type: attribute constexpr
# CHECK-NEXT:      name tl
# CHECK-NEXT:  constant TABLE
# CHECK-NEXT:    value: dict
# CHECK-NEXT:      string "a"
# CHECK-NEXT:      int 1
# CHECK-NEXT:  constant NAMES
# CHECK-NEXT:    value: comprehension
# CHECK-NEXT:      element: name n
# CHECK-NEXT:      for: name n
# CHECK-NEXT:      in: call
# CHECK-NEXT:        callee: name range
# CHECK-NEXT:        int 3
# CHECK-NEXT:  constant properties
# CHECK-NEXT:    value: call
# CHECK-NEXT:      callee: attribute get_device_properties
# CHECK-NEXT:        attribute utils
# CHECK-NEXT:          attribute active
# CHECK-NEXT:            name driver
# CHECK-NEXT:      attribute index
# CHECK-NEXT:        name DEVICE
# CHECK-NEXT:  function kernel
# CHECK-NEXT:    decorator: attribute jit
# CHECK-NEXT:      name triton
# CHECK-NEXT:    param x
# CHECK-NEXT:    param n
# CHECK-NEXT:    param B
# CHECK-NEXT:      type: attribute constexpr
# CHECK-NEXT:        name tl
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name i
# CHECK-NEXT:      value: call
# CHECK-NEXT:        callee: attribute arange
# CHECK-NEXT:          name tl
# CHECK-NEXT:        int 0
# CHECK-NEXT:        name B
# CHECK-NEXT:    expr
# CHECK-NEXT:      call
# CHECK-NEXT:        callee: attribute store
# CHECK-NEXT:          name tl
# CHECK-NEXT:        binary +
# CHECK-NEXT:          name x
# CHECK-NEXT:          name i
# CHECK-NEXT:        name i
# CHECK-NEXT:        keyword mask
# CHECK-NEXT:          compare <
# CHECK-NEXT:            name i
# CHECK-NEXT:            name n
# CHECK-NEXT:  constant kernels
# CHECK-NEXT:    value: dict
# CHECK-NEXT:  function last
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    param a
# CHECK-NEXT:    return
# CHECK-NEXT:      name a
# CHECK-NOT:{{.}}
