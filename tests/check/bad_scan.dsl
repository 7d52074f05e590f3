# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# What a combine function and its tiles must be.
@jit
def add(a, b):
    return a + b

@jit
def wrong_type(a, b):
    return a < b

@jit
def too_many(a, b):
    return a, b

@jit
def pair(a, b, c, d):
    return a + c, b + d

@jit
def makes_tile(a, b):
    # CHECK: bad_scan.dsl:[[#@LINE+2]]:20: error: a combine function computes with its arguments alone, without memory or tiles [E0323]
    # CHECK: 'makes_tile' is the combine function here
    return a + sum(arange(0, 4).to(fp32), 0)

@kernel(grid=(1,))
def k(x: *fp32):
    v = load(x + arange(0, 16))
    # CHECK: bad_scan.dsl:[[#@LINE+2]]:12: error: 'reduce' takes tiles, not fp32 [E0317]
    # CHECK-NEXT: reduce(load(x), 0, add)
    reduce(load(x), 0, add)
    # CHECK: error: 'reduce' along axis 1 of tile<16xfp32> [E0316]
    reduce(v, 1, add)
    # CHECK: error: 'wrong_type' combines elements of fp32, and returns i1 [E0323]
    # CHECK: convert what it returns to the element's type, as in x.to(a.dtype)
    associative_scan(v, 0, wrong_type)
    # CHECK: error: 'too_many' combines 1 value and returns
    # CHECK: it takes 2 arguments, those that come first before those that come later, and returns 1
    associative_scan(v, 0, too_many)
    # CHECK: error: 'pair' takes 4 arguments, and 'associative_scan' of 1 tile gives it 2 [E0323]
    associative_scan(v, 0, pair)
    # CHECK: error: combine_fn must be a function, not the int 3 [E0323]
    # CHECK: note: define it in the file, under @jit
    reduce(v, 0, 3)
    # CHECK: error: 'reduce' takes tiles of one shape, not tile<16xfp32> and tile<8xi32> [E0321]
    reduce((v, arange(0, 8)), 0, pair)
    # CHECK: error: 'axis' of 'cumsum' must be an int known at compile time, not None [E0801]
    cumsum(v, None)
    reduce(v, 0, makes_tile)
    # CHECK-NOT: error:
