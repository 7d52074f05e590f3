# square.dsl - squares, with a slip of the pen.
@kernel(grid=(2,))
def square(y: *i32[16]):
    i = program_id(0) * 8 + arrange(0, 8)
    store(y + i, i * i)
