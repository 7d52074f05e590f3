# What a checked run prints on both devices: place, program, what happened, the line with a caret; exit code 1.
# RUN: exits 1 fsc run --device=cpu --check %s x=zeros:fp32[200] y=%t.npy:fp32[200] 2>&1 | FileCheck %s --check-prefixes=CHECK,CPU
# RUN: exits 1 fsc run --check %s x=zeros:fp32[200] y=%t.npy:fp32[200] 2>&1 | FileCheck %s --check-prefixes=CHECK,EMU
# A kernel that is right says nothing, with and without checks.
# RUN: fsc run --device=emu --check --warmup 0 --repeat 0 %examples/add.dsl x=random:1:fp32[300] y=random:2:fp32[300] z=%t.npy 2>&1 | count 0
# RUN: fsc run --check %examples/add.dsl x=random:1:fp32[300] y=random:2:fp32[300] z=%t.npy | FileCheck %s --check-prefix=CLEAN
# RUN: fsc run --check --device=cpu %examples/add.dsl x=random:1:fp32[300] y=random:2:fp32[300] z=%t.npy | FileCheck %s --check-prefix=CLEAN
# RUN: fsc run --check --json %examples/add.dsl x=random:1:fp32[300] y=random:2:fp32[300] z=%t.npy | FileCheck %s --check-prefix=JSON
# RUN: fsc run --arch=emu --warmup 0 --repeat 1 %examples/add.dsl x=random:1:fp32[300] y=random:2:fp32[300] z=%t.npy | FileCheck %s --check-prefix=RIGHT
# CPU: run_check.dsl:23:5: out-of-bounds: program (3, 0, 0): writes 4 bytes at y[200], beyond the end of y (200 elements of fp32, from 0x{{[0-9a-f]+}} on) (56 times)
# EMU: run_check.dsl:23:5: out-of-bounds: program (3, 0, 0), thread {{[0-9]+}}: writes {{[0-9]+}} bytes at y[{{2[0-9]+}}], beyond the end of y
# CHECK-NEXT:    23 |     store(y + i, v + 1)
# CHECK-NEXT:       |     ^
# CHECK-NEXT: note: mask it (mask=i < n), or give the buffer the size that the kernel takes it to have
# CHECK-NEXT: fsc run: the checks found 1 mistake
# RIGHT: add on emu: {{[0-9.]+}} ms
# JSON: {"schema_version": 1, "kernel": "add", "device": "emu", "milliseconds"
# CLEAN: add on {{emu|cpu}}, checked: no mistakes ({{[0-9.]+}} ms, median of 1)
@kernel(grid=(cdiv(n, 64),))
def f(y: *fp32[n], x: *fp32[n], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    v = load(x + i, mask=i < n)
    store(y + i, v + 1)
