# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# An error inside library code stands at the user's call; a note shows its own place.
@kernel(grid=(1,))
def k(x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    # CHECK: library_error.dsl:[[#@LINE+3]]:18: error: {{.*}}axis
    # CHECK-NEXT: store(x + i, softmax(v, dim=3))
    # CHECK: found here, in 'softmax' of the standard library
    store(x + i, softmax(v, dim=3))
    # CHECK: library_error.dsl:[[#@LINE+2]]:18: error: the call of 'softmax' lacks its argument 'x' [E0207]
    # CHECK: the parameter is declared here
    store(x + i, softmax())
    # CHECK: library_error.dsl:[[#@LINE+2]]:29: error: 'softmax' has no parameter 'dims'; did you mean 'dim'? [E0204]
    # CHECK: 'softmax' is defined here
    store(x + i, softmax(v, dims=0))
    # CHECK: library_error.dsl:[[#@LINE+2]]:26: error: 'sigmoid' takes a float, not tile<128xi32> [E0317]
    # CHECK: note: convert it first, as in sigmoid(x.to(fp32))
    store(x + i, sigmoid(i))
    # CHECK-NOT: error:
