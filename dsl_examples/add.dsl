# z = x + y, element by element: the smallest kernel that does something.
#
# One program adds BLOCK neighbours; the last one masks off what lies beyond n.
#
#   fsc run add.dsl x=a.npy y=b.npy z=sum.npy
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024)
def add(z: *T[n], x: *T[n], y: *T[n], n: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = i < n
    store(z + i, load(x + i, mask=mask) + load(y + i, mask=mask), mask=mask)

# test: x=random:0:fp32[1000] y=random:1:fp32[1000]
# expect z: fp32(x + y)
# test halves: x=random:0:fp16[77] y=random:1:fp16[77]
# expect z: fp16(x + y)
