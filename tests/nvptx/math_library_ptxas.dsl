# ptxas takes every function of the mathematical library, without spills.
# RUN: fsc %S/math_library.dsl --emit=ptx --arch=sm_75 -o %t.sm_75.ptx && %ptxas -arch=sm_75 -v %t.sm_75.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %S/math_library.dsl --emit=ptx --arch=sm_90 -o %t.sm_90.ptx && %ptxas -arch=sm_90 -v %t.sm_90.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %S/math_library.dsl --emit=ptx --arch=sm_120 -o %t.sm_120.ptx && %ptxas -arch=sm_120 -v %t.sm_120.ptx -o %t.cubin 2>&1 | FileCheck %s
# REQUIRES: ptxas
# CHECK: 0 bytes spill stores, 0 bytes spill loads
