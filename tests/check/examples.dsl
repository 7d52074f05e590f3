# RUN: fsc --emit=tile --passes= %examples/add.dsl -o - | FileCheck %s
# Every example compiles as it is, and for every float type.
# RUN: fsc --emit=tile --passes= %examples/softmax.dsl -o - | FileCheck %s --check-prefix=SOFTMAX
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/softmax.dsl -o - | FileCheck %s --check-prefix=HALF
# RUN: fsc --emit=tile --passes= %examples/softmax_persistent.dsl -D STAGES=4 -o - \
# RUN:   | FileCheck %s --check-prefix=PERSISTENT
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
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/layernorm.dsl -o - | FileCheck %s --check-prefix=LAYERNORM
# LAYERNORM: func @layernorm(%y: *fp16 {{.*}}, %mean: *fp32 {{.*}}, %rstd: *fp32
# LAYERNORM-COUNT-3: {{= reduce }}
# LAYERNORM: rsqrt
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/rmsnorm.dsl -o - | FileCheck %s --check-prefix=RMSNORM
# RUN: fsc --emit=tile --passes= %examples/add_rmsnorm.dsl -o - | FileCheck %s --check-prefix=RMSNORM
# RMSNORM: reduce {{.*}}fadd
# RMSNORM: rsqrt
# RMSNORM-NOT: reduce
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/add_layernorm.dsl -o - | FileCheck %s --check-prefix=ADDNORM
# ADDNORM: fadd {{.*}} : tile<1024xbf16>
# ADDNORM: store
# ADDNORM-COUNT-3: {{= reduce }}
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/layernorm_backward.dsl -o - | FileCheck %s --check-prefix=BACKWARD
# RUN: fsc --emit=tile --passes= %examples/rmsnorm_backward.dsl -o - | FileCheck %s --check-prefix=BACKWARD
# BACKWARD: for {{.*}}carry
# BACKWARD: reduce {{.*}}fadd
# BACKWARD: yield
# BACKWARD: store
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/column_sum.dsl -o - | FileCheck %s --check-prefix=COLUMNS
# COLUMNS: for {{.*}}carry
# COLUMNS: reduce {{.*}}axis = 0{{.*}}fadd
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/softmax_temperature.dsl -o - \
# RUN:   | FileCheck %s --check-prefixes=FORMS,TEMPERATURE
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/softmax_scale.dsl -o - | FileCheck %s --check-prefix=FORMS
# RUN: fsc --emit=tile --passes= %examples/softmax_causal.dsl -o - | FileCheck %s --check-prefix=FORMS
# RUN: fsc --emit=tile --passes= %examples/softmax_masked.dsl -o - | FileCheck %s --check-prefix=FORMS
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/softmax_small_rows.dsl -o - | FileCheck %s --check-prefix=FORMS
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/log_softmax.dsl -o - | FileCheck %s --check-prefixes=FORMS,LOG
# FORMS: {{= reduce .*fmax}}
# TEMPERATURE: fdiv
# FORMS: = exp
# FORMS: {{= reduce .*fadd}}
# LOG: = log
# FORMS: store
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/softmax_columns.dsl -o - | FileCheck %s --check-prefix=WALK
# WALK: fmax_nan
# WALK: yield
# WALK: reduce {{.*}}axis = 0, combine = fmax_nan
# WALK: for
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/softmax_backward.dsl -o - | FileCheck %s --check-prefix=ALONG
# ALONG-COUNT-1: {{= reduce .*fadd}}
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/gelu.dsl -o - | FileCheck %s --check-prefix=ACTIVATION
# RUN: fsc --emit=tile --passes= -T T=fp16 -D TANH=True %examples/gelu.dsl -o - | FileCheck %s --check-prefix=ACTIVATION
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/silu.dsl -o - | FileCheck %s --check-prefix=ACTIVATION
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/swiglu.dsl -o - | FileCheck %s --check-prefix=ACTIVATION
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/swiglu_backward.dsl -o - | FileCheck %s --check-prefix=ACTIVATION
# ACTIVATION: fpext
# ACTIVATION: = exp
# ACTIVATION: fptrunc
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/quantize_int8.dsl -o - | FileCheck %s --check-prefix=INT8
# INT8: reduce {{.*}}fmax_nan
# INT8: : tile<1024xi8>
# RUN: fsc --emit=tile --passes= %examples/quantize_fp8.dsl -o - | FileCheck %s --check-prefix=FP8
# FP8: reduce {{.*}}fmax_nan
# FP8: : tile<1024xfp8e4nv>
# RUN: fsc --emit=tile --passes= -T Q=fp8e4nv -T T=bf16 %examples/dequantize.dsl -o - | FileCheck %s --check-prefix=BACK
# BACK: load {{.*}} : tile<1024xfp8e4nv>
# RUN: fsc --emit=tile --passes= %examples/row_sum_fp64.dsl -o - | FileCheck %s --check-prefix=WIDE
# WIDE: fpext {{.*}} : tile<1024xfp64>
# WIDE: reduce {{.*}}fadd{{.*}} : fp64
# RUN: fsc --emit=tile --passes= %examples/cross_entropy.dsl -o - | FileCheck %s --check-prefix=ENTROPY
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/cross_entropy_backward.dsl -o - \
# RUN:   | FileCheck %s --check-prefix=ENTROPYGRAD
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/logsumexp.dsl -o - | FileCheck %s --check-prefix=LSE
# RUN: fsc --emit=tile --passes= %examples/kl_divergence.dsl -o - | FileCheck %s --check-prefix=KL
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/l2_normalize.dsl -o - | FileCheck %s --check-prefix=LENGTH
# RUN: fsc --emit=tile --passes= %examples/cosine_similarity.dsl -o - | FileCheck %s --check-prefix=COSINE
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/mean_variance.dsl -o - | FileCheck %s --check-prefix=MOMENTS
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/moving_sum.dsl -o - | FileCheck %s --check-prefix=MOVING
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/rotary.dsl -o - | FileCheck %s --check-prefix=ROTARY
# RUN: fsc --emit=tile --passes= -T T=bf16 -D INTERLEAVED=True %examples/rotary.dsl -o - \
# RUN:   | FileCheck %s --check-prefix=INTERLEAVED
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/embedding_backward.dsl -o - | FileCheck %s --check-prefix=EMBEDDING
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/batched_matvec.dsl -o - | FileCheck %s --check-prefix=MATVEC
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/matmul.dsl -o - | FileCheck %s --check-prefix=MATMUL
# RUN: fsc --emit=tile --passes= -D 'ACTIVATION="gelu"' %examples/matmul.dsl -o - | FileCheck %s --check-prefix=GELUMUL
# RUN: not fsc -D 'ACTIVATION="tanh"' %examples/matmul.dsl -o - 2>&1 | FileCheck %s --check-prefix=NOACT
# RUN: fsc --emit=tile --passes= -T T=fp16 %examples/attention.dsl -o - | FileCheck %s --check-prefix=ATTENTION
# RUN: fsc --emit=tile --passes= -D CAUSAL=True %examples/attention.dsl -o - | FileCheck %s --check-prefix=CAUSAL
# RUN: fsc --emit=tile --passes= -D CAUSAL=True -D WINDOW=16 -D lse=None %examples/attention.dsl -o - \
# RUN:   | FileCheck %s --check-prefix=WINDOW
# RUN: not fsc -D WINDOW=16 %examples/attention.dsl -o - 2>&1 | FileCheck %s --check-prefix=NOWINDOW
# RUN: fsc --emit=tile --passes= -T T=bf16 -D CAUSAL=True %examples/attention_varlen.dsl -o - \
# RUN:   | FileCheck %s --check-prefix=VARLEN
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/attention_backward.dsl -o - | FileCheck %s --check-prefix=ATTENTIONGRAD
# RUN: fsc --emit=tile --passes= -T T=bf16 -D CAUSAL=True %examples/attention_backward_varlen.dsl -o - \
# RUN:   | FileCheck %s --check-prefix=VARLENGRAD
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/attention_delta.dsl -o - | FileCheck %s --check-prefix=DELTA
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/attention_decode.dsl -o - | FileCheck %s --check-prefix=DECODE
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/attention_merge.dsl -o - | FileCheck %s --check-prefix=MERGE
# RUN: fsc --emit=tile --passes= -D bias=None -D residual=None %examples/matmul.dsl -o - \
# RUN:   | FileCheck %s --check-prefix=PLAINMUL
# RUN: fsc --emit=tile --passes= %examples/matmul_fp8.dsl -o - | FileCheck %s --check-prefix=FP8MUL
# RUN: fsc --emit=tile --passes= %examples/matmul_fp8_blocks.dsl -o - | FileCheck %s --check-prefix=FP8BLOCKS
# RUN: fsc --emit=tile --passes= %examples/matmul_int8.dsl -o - | FileCheck %s --check-prefix=INTMUL
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/matmul_dequantize.dsl -o - | FileCheck %s --check-prefix=DEQUANTIZE
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/batched_matmul.dsl -o - | FileCheck %s --check-prefix=BATCHED
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/grouped_matmul.dsl -o - | FileCheck %s --check-prefix=GROUPED
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/split_k.dsl -o - | FileCheck %s --check-prefix=SPLIT
# RUN: fsc --emit=tile --passes= -T T=bf16 %examples/sample_top_p.dsl -o - | FileCheck %s --check-prefix=SAMPLE
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
# ENTROPY: reduce %v {{.*}}combine = fmax
# ENTROPY: = log
# ENTROPYGRAD: reduce {{.*}}combine = fmax
# ENTROPYGRAD: = exp
# ENTROPYGRAD: store
# LSE: reduce {{.*}}fadd
# LSE: = log
# KL: reduce {{.*}}fmax
# KL: reduce {{.*}}fmax
# KL: reduce {{.*}}fadd
# LENGTH: = sqrt
# LENGTH: = fdiv
# COSINE: = sqrt
# COSINE: = sqrt
# COSINE: = fdiv
# MOMENTS: for {{.*}}carry
# MOMENTS: reduce_fn {{.*}} : (fp32, fp32, fp32)
# MOVING: scan {{.*}} : (tile<1024xfp64>)
# MOVING: gather {{.*}} : tile<1024xfp64>
# ROTARY: load {{.*}} : tile<16x64xbf16>
# INTERLEAVED: split
# INTERLEAVED: join
# EMBEDDING: atomic_rmw {{.*}} {op = fadd, order = relaxed
# MATVEC: for {{.*}}carry
# MATVEC: reduce {{.*}}fadd
# MATMUL: for {{.*}}carry
# MATMUL: dot {{.*}} : tile<64x64xfp32>
# GELUMUL: dot {{.*}} : tile<64x64xfp32>
# GELUMUL: fmul
# NOACT: ACTIVATION is none, relu, silu or gelu
# ATTENTION: for {{.*}}carry
# ATTENTION: dot {{.*}} : tile<64x64xfp32>
# ATTENTION: dot {{.*}} : tile<64x64xfp32>
# CAUSAL: smin {{.*}} : tile<64xi64>
# CAUSAL: icmp slt {{.*}} : tile<64x64xi1>
# WINDOW-NOT: %lse
# WINDOW: icmp sgt {{.*}} : tile<64x64xi1>
# NOWINDOW: a window ends at a query's own place
# DELTA-COUNT-2: load
# DELTA: reduce
# ATTENTIONGRAD-COUNT-4: dot {{.*}} : tile<32x{{(32|64)}}xfp32>
# VARLEN: while
# VARLEN: for
# VARLEN-COUNT-4: dot {{.*}} : tile<64x64xfp32>
# ATTENTIONGRAD: for
# ATTENTIONGRAD-COUNT-3: dot {{.*}} : tile<32x{{(32|64)}}xfp32>
# VARLENGRAD: while
# VARLENGRAD-COUNT-8: dot {{.*}} : tile<32x{{(32|64)}}xfp32>
# VARLENGRAD: while
# VARLENGRAD-COUNT-6: dot {{.*}} : tile<32x{{(32|64)}}xfp32>
# DECODE: sdiv {{.*}} : tile<64xi32>
# DECODE-COUNT-2: dot {{.*}} : tile<16x64xfp32>
# MERGE: reduce {{.*}}fadd
# PLAINMUL: dot {{.*}} : tile<64x64xfp32>
# PLAINMUL-NOT: load
# FP8MUL: dot {{.*}} : tile<64x64xfp32>
# FP8BLOCKS: dot {{.*}} {imprecise = 128} : tile<32x64xfp32>
# INTMUL: dot {{.*}} : tile<64x64xi32>
# DEQUANTIZE: sitofp {{.*}} : tile<64x64xbf16>
# DEQUANTIZE: dot {{.*}} : tile<64x64xfp32>
# BATCHED: dot {{.*}} : tile<64x64xfp32>
# GROUPED: while
# GROUPED: dot {{.*}} : tile<64x64xfp32>
# SPLIT: dot {{.*}} : tile<64x64xfp32>
# SPLIT: store {{.*}}
# SAMPLE: while
# SAMPLE: bitcast
# SAMPLE: while
# SAMPLE: scan
# CHECK: func @add(
# CHECK: fadd
