# Every type that a scalar can have, more of them than registers pass: what types.c hands over must arrive.
@kernel
def types(y: *fp64, t: i1, a: i8, b: i16, c: i32, d: i64, e: u8, f: u16, g: u32, h: u64, p: fp32, q: fp64, r: fp16, s: bf16,
          u: fp32, v: fp64, w: fp32, x: fp32, z: fp32):
    i = program_id(0) * 20
    store(y + i, t.to(i32).to(fp64))
    store(y + i + 1, a.to(fp64))
    store(y + i + 2, b.to(fp64))
    store(y + i + 3, c.to(fp64))
    store(y + i + 4, d.to(fp64))
    store(y + i + 5, e.to(fp64))
    store(y + i + 6, f.to(fp64))
    store(y + i + 7, g.to(fp64))
    store(y + i + 8, h.to(fp64))
    store(y + i + 9, p.to(fp64))
    store(y + i + 10, q)
    store(y + i + 11, r.to(fp64))
    store(y + i + 12, s.to(fp64))
    store(y + i + 13, u.to(fp64))
    store(y + i + 14, v)
    store(y + i + 15, w.to(fp64))
    store(y + i + 16, x.to(fp64))
    store(y + i + 17, z.to(fp64))
    store(y + i + 18, num_programs(0).to(fp64))
    store(y + i + 19, num_programs(1).to(fp64))


# Values that the launch rule gives by T are the variant's own, and the grid is what it says.
@kernel(grid=(cdiv(n, 16 if T == fp32 else 64),), B=1024 // T.primitive_bitwidth, require=(T == bf16,))
def ruled(y: *i32[n], x: *T[n], n: i32, B: constexpr = 8, T: dtype = bf16):
    i = program_id(0) * B + arange(0, B)
    store(y + i, 100 * B + num_programs(0), mask=(i < n) & (load(x + i, mask=i < n) == 0.0))
