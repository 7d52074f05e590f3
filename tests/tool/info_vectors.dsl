# The report is of the variant that a launch with these scalars uses: rows of 512 are aligned, rows of 381 are not.
# Where only some are, all go by elements: lanes are neighbours then.
# RUN: fsc info %examples/softmax.dsl --gpu=h200 n_rows=4096 n_cols=512 | FileCheck %s --check-prefix=WHOLE
# RUN: fsc info %examples/softmax.dsl --gpu=h200 n_rows=4096 n_cols=381 | FileCheck %s --check-prefix=ODD
# RUN: fsc info %examples/softmax.dsl --gpu=h200 n_rows=4096 n_cols=512 x_stride=513 --json | FileCheck %s --check-prefix=JSON
# WHOLE: load {{.*}}softmax.dsl:16:9 16 bytes of fp32, x
# WHOLE: store {{.*}}softmax.dsl:18:5 16 bytes of fp32, y
# ODD: load {{.*}} 4 bytes of fp32, x
# ODD: store {{.*}} 4 bytes of fp32, y
# JSON: "kind": "load", {{.*}}"vector_bytes": 4,
# JSON: "kind": "store", {{.*}}"vector_bytes": 4,
