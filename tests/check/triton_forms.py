# RUN: fsc %s --signature "*fp16, *bf16, *i8, *i32, 32" --emit=tile -o - | FileCheck %s
# CHECK-COUNT-1: atomic_rmw
# CHECK-NOT: atomic_rmw
# Forms of Triton's files: types of an extreme beside its index, tuples times numbers, getattr, axes, one element.
import triton
import triton.language as tl


@triton.jit
def kernel(h, b, c, q, B: tl.constexpr):
    i = tl.arange(0, B)
    x, y, z = tl.load(h + i), tl.load(b + i), tl.load(c + i)
    m, at = tl.max(x, 0, return_indices=True)
    tl.static_assert(m.dtype == tl.float16 and at.dtype == tl.int32)
    tl.static_assert(tl.min(y, 0, return_indices=True)[0].dtype == tl.float32)
    tl.static_assert(tl.min(z, 0, return_indices=True)[0].dtype == tl.int8)
    tl.static_assert(tl.max(x, 0).dtype == tl.float32 and tl.max(z, 0).dtype == tl.int32)
    tl.static_assert((1,) * 3 + 2 * (4, 5) == (1, 1, 1, 4, 5, 4, 5) and len((1, 2) * 0) == 0 and (1,) * -1 == ())
    tl.static_assert(getattr(x, "nothing", 7) == 7 and getattr(tl, "int8") == tl.int8)
    tl.static_assert(isinstance(h.dtype, tl.pointer_type) and not isinstance(x.dtype, tl.pointer_type))
    tl.static_assert(x[None, None:].shape == [1, B] and x[::None, None].shape == [B, 1])
    tl.static_assert(tl.expand_dims(x, (0, 1, 3)).shape == [1, 1, B, 1])
    tl.static_assert(tl.expand_dims(x, (-4, 2, -1)).shape == [1, B, 1, 1])
    tl.static_assert(tl.expand_dims(x, (3, 1, 2)).shape == [B, 1, 1, 1])
    t = tl.zeros((2,) * 3 + (16, 16), tl.float32)
    tl.static_assert(tl.dot(t, tl.trans(t)).shape == [2, 2, 2, 16, 16])
    # the object is evaluated once
    tl.static_assert(getattr(tl.atomic_add(q, 1), "dtype") == tl.int32)
    one = tl.load(q + tl.arange(0, 1))
    if one > 4:
        tl.store(q, one.item())
    else:
        tl.store(q + 1, tl.where(tl.logical_or(one, 0), 1, 2).item())
