# RUN: fsc %s --signature="*fp32,*fp32,i32,256" -o - 2>&1 | FileCheck %s
# A file that imports the package that stands in for Triton's is compiled as one that imports Triton's.
# CHECK-NOT: error
# CHECK: .entry add
from fsc import triton as again
import fsc.triton as triton
import fsc.triton.language as tl
from fsc.triton.language.extra import libdevice


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = again.cdiv(n, triton.cdiv(BLOCK, 2))
    tl.store(y + i, libdevice.tanh(tl.load(x + i, mask=i < n)) + m, mask=i < n)
