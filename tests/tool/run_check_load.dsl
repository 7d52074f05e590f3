# Findings come in the order of the lines, each place once with its count; a tab stays under the caret, and so does a
# character of several bytes.
# RUN: exits 1 fsc run --device=cpu --check --grid=3 %s x=zeros:fp32[100] y=zeros:fp32[100] n=130 2>&1 | FileCheck %s --match-full-lines --strict-whitespace
# RUN: exits 1 fsc run --device=cpu:1 --check --grid=3 --json %s x=zeros:fp32[100] y=zeros:fp32[100] n=130 2>&1 | FileCheck %s --match-full-lines --strict-whitespace
# Masked-off lanes point beside both buffers and touch nothing.
# RUN: fsc run --device=cpu --check --grid=3 --repeat=0 %s x=zeros:fp32[100] y=zeros:fp32[100] n=100 2>&1 | count 0
# RUN: fsc run --device=emu --check --grid=3 --repeat=0 %s x=zeros:fp32[100] y=zeros:fp32[100] n=100 2>&1 | count 0
# Without checks nobody looks.
# RUN: fsc run --device=cpu --grid=3 --warmup=0 --repeat=0 %s x=zeros:fp32[100] y=zeros:fp32[100] n=100 2>&1 | count 0
#CHECK:{{.*}}run_check_load.dsl:22:16: out-of-bounds: program (1, 0, 0): reads 4 bytes at x[100], beyond the end of x (100 elements of fp32, from 0x{{[0-9a-f]+}} on) (30 times)
#CHECK-NEXT:   22 | 	if 1 < 2: v = load(x + i, mask=i < n)
#CHECK-NEXT:      | 	              ^
#CHECK-NEXT:note: mask it (mask=i < n), or give the buffer the size that the kernel takes it to have
#CHECK-NEXT:{{.*}}run_check_load.dsl:23:13: out-of-bounds: program (0, 0, 0): writes 4 bytes at y[-1], before the beginning of y (100 elements of fp32, from 0x{{[0-9a-f]+}} on)
#CHECK-NEXT:   23 | 	"ü"     ; store(y + i - 1, v, mask=i < n - 100)
#CHECK-NEXT:      | 	          ^
#CHECK-NEXT:fsc run: the checks found 2 mistakes
@kernel()
def f(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 64):
	i = program_id(0) * BLOCK + arange(0, BLOCK)
	v = zeros((BLOCK,), fp32)
	if 1 < 2: v = load(x + i, mask=i < n)
	"ü"     ; store(y + i - 1, v, mask=i < n - 100)
