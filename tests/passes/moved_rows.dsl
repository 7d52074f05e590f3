# A stored row of 16 bits without weights: one block moves 64 KB, more of them 56 KB each, while eight hold the row, or
# 80 KB where rows begin anywhere. Softmax moves four bytes an element, so one block has 16384 elements; what stores
# int8 moves three. A row with weights has more.
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=2000 n_cols=16384 x_stride=16384 y_stride=16384 \
# RUN:   | FileCheck %s --check-prefix=ONE
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=2000 n_cols=16392 x_stride=16392 y_stride=16392 \
# RUN:   | FileCheck %s --check-prefix=TWO
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=fp16 n_rows=2000 n_cols=65536 x_stride=65536 y_stride=65536 \
# RUN:   | FileCheck %s --check-prefix=EIGHT
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=2000 n_cols=131072 x_stride=131072 y_stride=131072 \
# RUN:   | FileCheck %s --check-prefix=EIGHT
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=2000 n_cols=65537 x_stride=65537 y_stride=65537 \
# RUN:   | FileCheck %s --check-prefix=FOUR
# RUN: fsc info --gpu=h200 %examples/quantize_int8.dsl -T T=bf16 n_rows=2000 n_cols=65536 x_stride=65536 \
# RUN:   q_stride=65536 | FileCheck %s --check-prefix=FOUR
# RUN: fsc info --gpu=h200 %examples/rmsnorm.dsl -T T=bf16 n_rows=2000 n_cols=16384 x_stride=16384 y_stride=16384 \
# RUN:   | FileCheck %s --check-prefix=ONE
# ONE-NOT: blocks per program
# TWO: blocks per program {{ *}}2 (a cluster)
# FOUR: blocks per program {{ *}}4 (a cluster)
# EIGHT: blocks per program {{ *}}8 (a cluster)
