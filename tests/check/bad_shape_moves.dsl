# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Shape builtins that do not fit their tiles: each says what does not fit.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    i = arange(0, 16)
    v = reshape(i, (4, 4))
    # CHECK: bad_shape_moves.dsl:[[#@LINE+2]]:9: error: 'view' of tile<16xi32> to tile<8x4xi32> [E0320]
    # CHECK: note: a reshape keeps the number of elements: 16 here, 32 there
    a = view(i, 8, 4)
    # CHECK: error: each dimension of 'shape' of 'reshape' must be an int known at compile time, not i32 [E0801]
    b = i.reshape(n, 4)
    # CHECK: error: 'trans' of tile<16xi32>, which has no two axes to change places [E0320]
    c = trans(i)
    # CHECK: error: 'trans' of tile<4x4xi32> takes each of its 2 axes once [E0316]
    d = trans(v, 0, 0)
    # CHECK: error: 'permute' of tile<4x4xi32> takes each of its 2 axes once [E0316]
    e = permute(v, (1, 0, 2))
    # CHECK: error: 'permute' along axis 2 of tile<4x4xi32> [E0316]
    # CHECK: note: it has axes 0 to 1
    f = v.permute(0, 2)
    # CHECK: error: '.T' of tile<4x1x4xi32> [E0320]
    # CHECK: note: it takes two axes; trans(x, ...) and permute name the order of more
    g = v[:, None].T
    # CHECK: error: 'squeeze' of axis 1 of tile<4x4xi32>, whose size is 4 [E0316]
    h = squeeze(v, 1)
    # CHECK: error: 'unsqueeze' of tile<4x4xi32> at axis -1 [E0316]
    # CHECK: note: the new axis is 0 to 2; expand_dims(x, -1) adds it behind the last
    j = unsqueeze(v, -1)
    # CHECK: error: 'split' of tile<4x4xi32>, whose last axis does not have size 2 [E0320]
    l, m = split(v)
    # CHECK: error: 'join' of tile<16xi32> and tile<16xfp32>, whose element types differ [E0321]
    # CHECK: convert one of them, as in x.to(fp32)
    o = join(i, i.to(fp32))
    # CHECK: error: tile<16xi32> and tile<8xi32> have shapes that do not broadcast [E0313]
    p = interleave(i, arange(0, 8))
    # CHECK: error: 'cat' of tile<16xi32> and tile<1xi32> [E0320]
    # CHECK: note: it takes two tiles of one shape
    q = cat(i, arange(0, 1))
    # CHECK: error: 'cat' along axis 1 of tile<16xi32> [E0316]
    r = cat(i, i, dim=1)
    # CHECK: error: 'join' of tile<1x1x1x1x1x1x16xi32>: it would pass through rank 8, and 7 is the most [E0314]
    s = join(i[None, None, None, None, None, None], 1)
    # CHECK: error: 'join' lacks its argument 'b' [E0207]
    t = join(i)
    # CHECK: error: 'gather' of tile<4x4xi32> by tile<8x8xi32> along axis 0 [E0322]
    # CHECK: along all other axes the two must have the same size
    u = gather(v, arange(0, 64).reshape(8, 8), 0)
    # CHECK: error: the index of 'gather' must be a tile of ints, not tile<16xfp32> [E0322]
    w = gather(i, i.to(fp32), 0)
    # CHECK: error: 'src' of 'gather' must be a tile of numbers, not tile<16x*fp32> [E0317]
    # CHECK: note: load what it points to, as in load(x)
    y = gather(x + i, i, 0)
    # CHECK: error: 'flip' along axis 1 of tile<16xi32> [E0316]
    z = flip(i, 1)
    # CHECK-NOT: error:
