# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s --implicit-check-not=error:
# Block pointers and descriptors made or used wrongly.
@kernel(grid=(1,))
def k(x: *const fp32, y: *i32, z: *fp32[n, n], n: i32):
    p = make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    d = make_tensor_descriptor(x, (n, n), (n, 1), (16, 16))
    i = make_tensor_descriptor(y, n, 1, 16)
    # CHECK: bad_blocks.dsl:[[#@LINE+1]]:24: error: 'make_block_ptr' needs a pointer {{.*}} not i32 [E0401]
    a = make_block_ptr(n, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    # CHECK: note: the base is one address: where the array begins
    # CHECK: error: 'shape' of 'make_block_ptr' has 1 parts, and the block 2 dimensions [E0410]
    a = make_block_ptr(x, (n,), (n, 1), (0, 0), (16, 16), (1, 0))
    # CHECK: error: 'offsets' of 'make_block_ptr' is made of integers, not of the float 0.5 [E0410]
    a = make_block_ptr(x, (n, n), (n, 1), (0, 0.5), (16, 16), (1, 0))
    # CHECK: note: it is a tuple of integers, one for each dimension, as in (m, n)
    # CHECK: error: 'strides' of 'make_block_ptr' is made of integers, not of tile<16xi32> [E0410]
    a = make_block_ptr(x, (n, n), (arange(0, 16), 1), (0, 0), (16, 16), (1, 0))
    # CHECK: error: the size 20 is not a power of two [E0311]
    a = make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 20), (1, 0))
    # CHECK: error: the order is not one of 2 axes [E0410]
    a = make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 1))
    # CHECK: note: it names each axis once, the fastest in memory first, as in (1, 0)
    # CHECK: error: 'advance' takes a block pointer, as make_block_ptr makes it, not *fp32 [E0409]
    a = advance(x, (0, 16))
    # CHECK: error: 'advance' takes a block pointer, {{.*}} not a descriptor of tile<16x16xfp32> [E0409]
    a = advance(d, (0, 16))
    # CHECK: error: 'load' takes a pointer, not a descriptor of tile<16x16xfp32> [E0409]
    a = load(d)
    # CHECK: note: the method takes offsets, as in d.load((m, n))
    # CHECK: error: 'load_tensor_descriptor' takes a descriptor, {{.*}} not a block pointer {{.*}} [E0409]
    a = load_tensor_descriptor(p, (0, 0))
    # CHECK: error: 'offsets' of 'load_tensor_descriptor' has 1 parts, and the block 2 dimensions [E0410]
    a = d.load((0,))
    # CHECK: error: 'mask' of 'load' beside a block pointer [E0411]
    a = load(p, mask=n > 0)
    # CHECK: note: boundary_check=(0, 1) masks what lies beyond the array, padding_option says what it is then
    # CHECK: error: 'other' of 'load' beside a block pointer [E0411]
    a = load(p, other=0.0)
    # CHECK: error: 'boundary_check' of 'load' without a block pointer [E0411]
    a = load(x, boundary_check=(0,))
    # CHECK: note: a tile of pointers has a mask: mask=, and other= of a load
    # CHECK: error: 'padding_option' of 'load' without a block pointer [E0411]
    a = load(x, padding_option="zero")
    # CHECK: error: 'boundary_check' along axis 2 of a block pointer of tile<16x16xfp32> [E0316]
    a = load(p, boundary_check=(0, 2))
    # CHECK: note: it has axes 0 to 1
    # CHECK: error: padding_option is the string "one" [E0407]
    a = load(p, boundary_check=(0, 1), padding_option="one")
    # CHECK: error: i32 elements cannot be padded with NaN [E0411]
    a = make_tensor_descriptor(y, n, 1, 16, padding_option="nan")
    # CHECK: error: store through a pointer that is declared *const [E0405]
    d.store((0, 0), 1.0)
    # CHECK: error: 'value' of 'store' is tile<8xi32>, and the pointer is tile<16x*i32> [E0402]
    i.store(0, arange(0, 8))
    # CHECK: error: a descriptor of tile<16xi32> has no 'advance'
    a = i.advance(0)
    # CHECK: error: 'gather_tensor_descriptor' takes a descriptor of rows, not a descriptor of tile<16x16xfp32> [E0410]
    a = d.gather(arange(0, 8), 0)
    # CHECK: note: it takes rows one by one: block_shape=[1, B]
    # CHECK: error: 'gather_tensor_descriptor' takes a descriptor, {{.*}} not a block pointer {{.*}} [E0409]
    a = gather_tensor_descriptor(p, arange(0, 8), 0)
    rows = make_tensor_descriptor(x, (n, n), (n, 1), (1, 16))
    # CHECK: error: 'gather_tensor_descriptor' at rows tile<4x8xi32> and column the int 0 [E0410]
    a = rows.gather(arange(0, 32).reshape(4, 8), 0)
    # CHECK: note: rows are a tile of rank 1, the column an integer: where the block begins
    # CHECK: error: 'gather_tensor_descriptor' at rows tile<8xi32> and column the float 0.5 [E0410]
    a = rows.gather(arange(0, 8), 0.5)
    # CHECK: error: 'x_offsets' of 'gather_tensor_descriptor' must be a tile of integers, not i32
    a = rows.gather(n, 0)
    # CHECK: error: store through a pointer that is declared *const [E0405]
    rows.scatter(zeros((8, 16)), arange(0, 8), 0)
    # CHECK: error: 'value' of 'store' is tile<8x8xfp32>, and the pointer is tile<8x16x*fp32> [E0402]
    make_tensor_descriptor(z, (n, n), (n, 1), (1, 16)).scatter(zeros((8, 8)), arange(0, 8), 0)
    # CHECK: error: 'p' changes its type in the loop, from a block pointer {{.*}} to a descriptor {{.*}} [E0326]
    for j in range(n):
        p = d
    # CHECK: error: 'q' is a descriptor of tile<16xi32> on this path {{.*}} on the other [E0325]
    if n > 0:
        q = d
    else:
        q = i
    # CHECK: error: 'make_tensor_descriptor' without shape and strides, and x has no shape contract [E0410]
    a = make_tensor_descriptor(x, block_shape=(16, 16))
    # CHECK: note: give both, or write the contract, as in x: *fp32[M, N]
    # CHECK: error: 'make_tensor_descriptor' without shape and strides, and this pointer has no shape contract [E0410]
    a = make_tensor_descriptor(z + n, block_shape=(16, 16))
    # CHECK: error: the contract of 'z' has 2 parts, and the block 1 dimensions [E0410]
    a = make_tensor_descriptor(z, block_shape=16)
    # CHECK: error: 'make_tensor_descriptor' lacks its argument 'strides' [E0207]
    a = make_tensor_descriptor(z, (n, n), block_shape=16)
    # CHECK: note: both may be left out where the base is a parameter with a shape contract
    # CHECK: error: 'make_tensor_descriptor' lacks its argument 'block_shape' [E0207]
    a = make_tensor_descriptor(z)
