# An object with code for several processors: those that the runtime can tell apart, of one kind.
# REQUIRES: aarch64
# RUN: fsc %s --arch=cpu --cpu=x86-64,x86-64-v3,x86-64-v4 --emit=object -o %t.o --header=%t.h
# RUN: FileCheck %s --check-prefix=HEADER --input-file=%t.h
# HEADER: Kernel k of {{.*}}, for cpu x86-64, cpu x86-64-v3, cpu x86-64-v4.
# RUN: fsc %s --arch=sm_90,cpu --cpu=armv8-a,sve256 --emit=object -o %t.o --header=%t.h
# RUN: FileCheck %s --check-prefix=ARM --input-file=%t.h
# ARM: for sm_90, cpu armv8-a, cpu sve256.
# RUN: fsc %examples/softmax.dsl -O0 --arch=cpu --cpu=armv8-a,armv8.6-a --variants BLOCK=256..1024 --emit=object -o %t.o
# RUN: exits 2 fsc %s --arch=cpu --cpu=x86-64,native --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=NATIVE
# NATIVE: fsc: --cpu=native: of several processors the runtime has to find the right one, {{.*}} take levels: x86-64,
# RUN: exits 2 fsc %s --arch=cpu --cpu=x86-64,armv8-a --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=KINDS
# KINDS: fsc: --cpu: x86-64 and armv8-a are processors of two kinds: an object is for one
# RUN: exits 2 fsc %s --arch=cpu --cpu=sve256,sve256 --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=SAME
# SAME: fsc: --cpu: sve256 and sve256 are of one level, which the runtime cannot tell apart: leave one out
# RUN: exits 2 fsc %s --arch=cpu --cpu=x86-64,znver4 --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=MORE
# MORE: fsc: --cpu=znver4: of several processors the runtime has to find the right one, and cannot ask for this one
# RUN: exits 1 fsc %s --arch=cpu --cpu=x86-64,x86-64-v3 --emit=asm -o - 2>&1 | FileCheck %s --check-prefix=LIST
# LIST: several are for --emit=object alone
# RUN: fsc %s --arch=cpu --cpu=native --emit=asm -o - | FileCheck %s --check-prefix=HERE
# HERE: {{^}}k:
# RUN: exits 2 fsc %s --arch=cpu --cpu=x86-64,abacus --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=NAME
# NAME: fsc: --cpu: unknown processor 'abacus'; names are LLVM's, such as znver4 or neoverse-v2, and x86-64,
# RUN: exits 1 fsc %s --arch=cpu --cpu= --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=EMPTY
# EMPTY: fsc: error: unknown processor ''
# RUN: exits 2 fsc %s --arch=sm_90 --cpu=abacus --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=NAME
@kernel(grid=(1,))
def k(y: *fp32):
    store(y, 1.0)
