# RUN: fsc --emit=tile --passes= --signature "*fp32, *i32, i32" %s -o - 2>&1 | FileCheck %s
# In a Triton file `and`, `or` and `not` take tiles, element by element, with a warning; scalars still stop early.
import triton
import triton.language as tl


@triton.jit
def k(x, q, n):
    i = tl.arange(0, 32)
    # CHECK: tile_logic.py:[[#@LINE+2]]:9: warning: 'and' of a tile, element by element [W0301]
    # CHECK: note: write (a) & (b), which says so; 'and' is for scalars
    m = i < n and i != 5
    # CHECK: tile_logic.py:[[#@LINE+1]]:9: warning: 'or' of a tile
    m = n > 3 or m
    # CHECK: tile_logic.py:[[#@LINE+1]]:9: warning: 'not' of a tile
    m = not m
    # CHECK: tile_logic.py:[[#@LINE+1]]:18: warning: 'and' of a tile
    m = True and (m and True)
    # CHECK: func @k
    # CHECK: and %{{.*}} : tile<32xi1>
    # CHECK: or %{{.*}} : tile<32xi1>
    # CHECK: xor %{{.*}} : tile<32xi1>
    k = tl.load(q + i)
    # CHECK: icmp ne
    # CHECK: and %{{.*}} : tile<32xi1>
    tl.store(x + i, 1.0, mask=k and m)
