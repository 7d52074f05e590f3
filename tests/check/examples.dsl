# RUN: fsc --emit=tile --passes= %examples/add.dsl -o - | FileCheck %s
# Every example compiles as it is, and for every float type.
# RUN: fsc --emit=tile --passes= %examples/softmax.dsl -o - | FileCheck %s --check-prefix=SOFTMAX
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/softmax.dsl -o - | FileCheck %s --check-prefix=HALF
# RUN: fsc --emit=tile --passes= %examples/softmax_persistent.dsl -o - | FileCheck %s --check-prefix=PERSISTENT
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/softmax_tiled.dsl -o - | FileCheck %s --check-prefix=TILED
# RUN: fsc --emit=tile --passes= %examples/softmax_unstable.dsl -o - | FileCheck %s --check-prefix=UNSTABLE
# RUN: fsc --emit=tile --passes= -T T=fp64 %examples/naive/row_max.dsl -o - | FileCheck %s --check-prefix=ROWMAX
# RUN: fsc --emit=tile --passes= %examples/naive/subtract.dsl -o - | FileCheck %s --check-prefix=SUBTRACT
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/naive/exp.dsl -o - | FileCheck %s --check-prefix=EXP
# RUN: fsc --emit=tile --passes= %examples/naive/row_sum.dsl -o - | FileCheck %s --check-prefix=ROWSUM
# RUN: fsc --emit=tile --passes= %examples/naive/divide.dsl -o - | FileCheck %s --check-prefix=DIVIDE
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/dropout.dsl -o - | FileCheck %s --check-prefix=DROPOUT
# RUN: fsc --emit=tile --passes= %examples/histogram.dsl -o - | FileCheck %s --check-prefix=HISTOGRAM
# DROPOUT: func @dropout(%y: *fp16
# DROPOUT: select
# HISTOGRAM: atomic_rmw {{.*}} {op = add, order = relaxed, reach = gpu
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/transpose.dsl -o - | FileCheck %s --check-prefix=TRANSPOSE
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/gather_rows.dsl -o - | FileCheck %s --check-prefix=GATHER
# TRANSPOSE: trans %v {perm = [1, 0]} : tile<32x32xbf16>
# GATHER: load {{.*}} : tile<4x1024xfp16>
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/prefix_sum.dsl -o - | FileCheck %s --check-prefix=PREFIX
# RUN: fsc --emit=tile --passes= %examples/argmax.dsl -o - | FileCheck %s --check-prefix=ARGMAX
# SOFTMAX: func @softmax(%y: *fp32
# SOFTMAX: load
# SOFTMAX: reduce {{.*}}fmax
# SOFTMAX: = exp
# SOFTMAX: reduce {{.*}}fadd
# SOFTMAX: fdiv
# SOFTMAX: store
# HALF: func @softmax(%y: *fp16
# HALF: fpext
# HALF: fptrunc
# PERSISTENT: for {{.*}}stages = 4
# TILED: for {{.*}}carry
# TILED: fmax_nan
# TILED: for
# UNSTABLE-NOT: fmax
# UNSTABLE: = exp
# ROWMAX: reduce {{.*}}fmax{{.*}} : fp64
# SUBTRACT: fsub
# EXP: fpext
# EXP: = exp
# EXP: fptrunc
# ROWSUM: reduce {{.*}}fadd
# DIVIDE: fdiv
# PREFIX: for {{.*}}carry
# PREFIX: scan {{.*}} : (tile<1024xfp32>)
# PREFIX: fptrunc
# ARGMAX: reduce_fn {{.*}} : (fp32, i32)
# CHECK: func @add(
# CHECK: fadd
