# Every arch is written with the lowest PTX version that knows it.
# RUN: fsc %s --emit=ptx --arch=sm_75 -o - | FileCheck %s --check-prefix=SM75
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s --check-prefix=SM80
# RUN: fsc %s --emit=ptx --arch=sm_86 -o - | FileCheck %s --check-prefix=SM86
# RUN: fsc %s --emit=ptx --arch=sm_87 -o - | FileCheck %s --check-prefix=SM87
# RUN: fsc %s --emit=ptx --arch=sm_88 -o - | FileCheck %s --check-prefix=SM88
# RUN: fsc %s --emit=ptx --arch=sm_89 -o - | FileCheck %s --check-prefix=SM89
# RUN: fsc %s --emit=ptx --arch=sm_90 -o - | FileCheck %s --check-prefix=SM90
# RUN: fsc %s --emit=ptx --arch=sm_100 -o - | FileCheck %s --check-prefix=SM100
# RUN: fsc %s --emit=ptx --arch=sm_103 -o - | FileCheck %s --check-prefix=SM103
# RUN: fsc %s --emit=ptx --arch=sm_110 -o - | FileCheck %s --check-prefix=SM110
# RUN: fsc %s --emit=ptx --arch=sm_120 -o - | FileCheck %s --check-prefix=SM120
# RUN: fsc %s --emit=ptx --arch=sm_121 -o - | FileCheck %s --check-prefix=SM121
# SM75: .version 6.3
# SM75-NEXT: .target sm_75
# SM80: .version 7.0
# SM80-NEXT: .target sm_80
# SM86: .version 7.1
# SM86-NEXT: .target sm_86
# SM87: .version 7.4
# SM87-NEXT: .target sm_87
# SM88: .version 9.0
# SM88-NEXT: .target sm_88
# SM89: .version 7.8
# SM89-NEXT: .target sm_89
# SM90: .version 7.8
# SM90-NEXT: .target sm_90
# SM100: .version 8.6
# SM100-NEXT: .target sm_100
# SM103: .version 8.8
# SM103-NEXT: .target sm_103
# SM110: .version 9.0
# SM110-NEXT: .target sm_110
# SM120: .version 8.7
# SM120-NEXT: .target sm_120
# SM121: .version 8.8
# SM121-NEXT: .target sm_121
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, exp(v))
