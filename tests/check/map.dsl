# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# map_elementwise: what is no function, what differs by element and may not, results that are no tiles.

# CHECK: map.dsl:[[#@LINE+4]]:8: error: a load, a store or a question to the device in a branch that only some elements
# CHECK-SAME: take [E0333]
@jit
def stores(x):
    if x > 0:
        store(x.to(i64).to(pointer_type(i32), bitcast=True), 1)
    return x

@jit
def three(x, y):
    return x, y, x

@jit
def text(x):
    return "a"

# CHECK: error: the value is tile<16xi32> on one path and tile<16xfp32> on the other [E0325]
@jit
def types(x):
    return x if x > 0 else x * 0.5

@kernel(grid=(1,))
def k(x: *i32, n: i32):
    v = load(x + arange(0, 16))
    # CHECK: map.dsl:[[#@LINE+2]]:25: error: map_elementwise calls a function of the file, not the int 3 [E0333]
    # CHECK: note: define it in the file, under @jit
    a = map_elementwise(3, v)
    b = map_elementwise(stores, v)
    # CHECK: error: map_elementwise packs 1, 2, 4 … 32 elements, not 3 of 16 [E0333]
    c = map_elementwise(three, v, pack=3)
    # CHECK: error: map_elementwise packs 1, 2, 4 … 32 elements, not 32 of 16 [E0333]
    d = map_elementwise(three, v, pack=32)
    # CHECK: error: 'three' returns 3 values, which is not one or several for each of 2 packed elements [E0333]
    e = map_elementwise(three, v, pack=2)
    # CHECK: error: 'text' returns the string "a", and map_elementwise makes tiles of numbers [E0333]
    f = map_elementwise(text, v)
    g = map_elementwise(types, v)
    # CHECK: error: tile<16xi32> and tile<8xi32> have shapes that do not broadcast [E0313]
    h = map_elementwise(three, v, arange(0, 8))
    # CHECK-NOT: error:
    i = map_elementwise(types, n + 0.5)
    store(x + arange(0, 16), v)
