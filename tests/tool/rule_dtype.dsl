# RUN: fsc run --device=cpu --warmup 0 --repeat 1 %s x=random:0:fp32[100] y=%t.npy
# RUN: %python -c "import numpy, sys; y = numpy.load(sys.argv[1]); assert (y == 3200004).all(), y" %t.npy
# RUN: fsc run --device=cpu --warmup 0 --repeat 1 %s x=random:0:fp16[100] y=%t.npy
# RUN: %python -c "import numpy, sys; y = numpy.load(sys.argv[1]); assert (y == 6400002).all(), y" %t.npy
# RUN: fsc run --device=emu --warmup 0 --repeat 1 %s x=random:0:bf16[100] y=%t.npy
# RUN: %python -c "import numpy, sys; y = numpy.load(sys.argv[1]); assert (y == 6400002).all(), y" %t.npy
# RUN: fsc run --device=emu --warmup 0 --repeat 1 -T T=float16 %s x=random:0:fp16[100] y=%t.npy
# RUN: %python -c "import numpy, sys; y = numpy.load(sys.argv[1]); assert (y == 6400002).all(), y" %t.npy
# RUN: fsc run --device=cpu --warmup 0 --repeat 1 --grid "5 if T == bf16 else 7" -D T=bf16 %s x=random:0:bf16[100] \
# RUN:   y=%t.npy
# RUN: %python -c "import numpy, sys; y = numpy.load(sys.argv[1]); assert (y == 6400005).all(), y" %t.npy
# RUN: fsc run --device=cpu --warmup 0 --repeat 1 --grid "T.primitive_bitwidth" %s x=random:0:fp32[100] y=%t.npy
# RUN: %python -c "import numpy, sys; y = numpy.load(sys.argv[1]); assert (y == 3200032).all(), y" %t.npy
# RUN: exits 2 fsc run --device=cpu %s x=random:0:fp64[100] y=%t.npy 2>&1 | FileCheck --check-prefix=REQUIRE %s
# RUN: exits 2 fsc run --device=cpu --grid "T + 1" %s x=random:0:fp32[100] y=%t.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=GRID %s
# RUN: fsc info --gpu=h100 -T T=bf16 %s n=1000 | FileCheck --check-prefix=INFO16 %s
# RUN: fsc info --gpu=h100 %s n=1000 | FileCheck --check-prefix=INFO32 %s
# RUN: fsc bench --device=cpu --axis n=100..100:1 --dtype fp32,bf16 --warmup 0 --repeat 1 --json %s \
# RUN:   | FileCheck --check-prefix=BENCH %s
# A type that a rule asks for, wherever rules are evaluated: y is 100000 times what the rule gave,
# and the number of programs.
# REQUIRE: requires T != fp64, which does not hold (T = fp64)
# GRID: error: a type stands where the launch rule wants a number [E0504]
# INFO16: B {{ *}}64 (launch rule)
# INFO16: warps per program {{ *}}2
# INFO16: grid {{ *}}16 x 1 x 1
# INFO32: B {{ *}}32 (launch rule)
# INFO32: warps per program {{ *}}4
# INFO32: grid {{ *}}32 x 1 x 1
# BENCH: "dtype": "fp32"
# BENCH: "dtype": "bf16"
@kernel(grid=(cdiv(n, 32 if T == fp32 else 64),), B=1024 // T.primitive_bitwidth, num_warps=2 if T == bf16 else 4, require=(T != fp64,))
def told(y: *i32[n], x: *T[n], n: i32, B: constexpr = 8, T: dtype = fp32):
    i = program_id(0) * B + arange(0, B)
    store(y + i, B * 100000 + num_programs(0), mask=(i < n) & (load(x + i, mask=i < n) == load(x + i, mask=i < n)))
