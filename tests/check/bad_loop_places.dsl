# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# continue outside a loop, else after one, range as a value.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: error: 'else' of a loop is not compiled yet [E0901]
    for i in range(n):
        store(x, 1.0)
    else:
        store(x, 2.0)
    # CHECK: error: 'range' is not a function to call here [E0208]
    # CHECK: note: write it as in: for i in range(...):
    r = range(n)
    # CHECK: error: a kernel returns no value; write it to memory with store [E0515]
    if n > 3:
        return n
    # CHECK: error: 'continue' outside a loop [E0807]
    continue
