# A stored row of 16 bits without weights: a block moves 56 KB, while eight hold the row. Softmax moves four bytes an
# element, which are 14336 elements a block; what stores int8 three, which are 19114. A row with weights has more.
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=2000 n_cols=14336 x_stride=14336 y_stride=14336 \
# RUN:   | FileCheck %s --check-prefix=ONE
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=2000 n_cols=14344 x_stride=14344 y_stride=14344 \
# RUN:   | FileCheck %s --check-prefix=TWO
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=fp16 n_rows=2000 n_cols=65536 x_stride=65536 y_stride=65536 \
# RUN:   | FileCheck %s --check-prefix=EIGHT
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=2000 n_cols=131072 x_stride=131072 y_stride=131072 \
# RUN:   | FileCheck %s --check-prefix=EIGHT
# RUN: fsc info --gpu=h200 %examples/quantize_int8.dsl -T T=bf16 n_rows=2000 n_cols=65536 x_stride=65536 \
# RUN:   q_stride=65536 | FileCheck %s --check-prefix=FOUR
# RUN: fsc info --gpu=h200 %examples/rmsnorm.dsl -T T=bf16 n_rows=2000 n_cols=16384 x_stride=16384 y_stride=16384 \
# RUN:   | FileCheck %s --check-prefix=ONE
# ONE-NOT: blocks per program
# TWO: blocks per program {{ *}}2 (a cluster)
# FOUR: blocks per program {{ *}}4 (a cluster)
# EIGHT: blocks per program {{ *}}8 (a cluster)
