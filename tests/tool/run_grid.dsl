# RUN: exits 2 fsc run --device=cpu %s x=random:0:fp32[40] y=%t.npy:fp32[40] n=40 a=2 2>&1 \
# RUN:   | FileCheck --check-prefix=NONE %s
# RUN: %python -c "import numpy, sys; numpy.save(sys.argv[1], numpy.arange(40, dtype='f4'))" %t.in.npy
# RUN: fsc run --device=cpu --warmup 0 --repeat 1 --grid "cdiv(n, BLOCK)" %s x=%t.in.npy y=%t.npy:fp32[40] n=40 a=2.5
# RUN: %python -c "import numpy, sys; assert (numpy.load(sys.argv[1]) == numpy.arange(40) * 2.5).all()" %t.npy
# RUN: fsc run --device=cpu --warmup 0 --repeat 1 --grid 1 %s x=%t.in.npy y=%t.npy:fp32[40] n=40 a=2
# RUN: %python -c "import numpy, sys; assert (numpy.load(sys.argv[1]) == numpy.where(numpy.arange(40) < 16, numpy.arange(40) * 2, 0)).all()" %t.npy
# RUN: exits 2 fsc run --device=cpu --grid "1, 1, 1, 1" %s x=%t.in.npy y=%t.npy:fp32[40] n=40 a=2 2>&1 \
# RUN:   | FileCheck --check-prefix=FOUR %s
# RUN: exits 2 fsc run --device=cpu --grid "q + 1" %s x=%t.in.npy y=%t.npy:fp32[40] n=40 a=2 2>&1 \
# RUN:   | FileCheck --check-prefix=NAME %s
# RUN: exits 2 fsc run --device=cpu --grid "(" %s x=%t.in.npy y=%t.npy:fp32[40] n=40 a=2 2>&1 \
# RUN:   | FileCheck --check-prefix=OPEN %s
# A kernel without a launch rule takes its grid from --grid, an expression over its scalars.
@kernel()
def scale(y: *fp32, x: *fp32, n: i32, a: fp32, BLOCK: constexpr = 16):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(y + i, load(x + i, mask=i < n) * a, mask=i < n)
# NONE: fsc run: kernel scale has no launch rule; give the number of programs: --grid=EXPR
# FOUR: a grid has three dimensions at most, not 4
# NAME: error: 'q' is no parameter of the kernel
# OPEN: error: '(' is never closed
