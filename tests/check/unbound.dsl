# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Parameters that nothing binds: each is named, and a note shows how.
# CHECK: unbound.dsl:[[#@LINE+11]]:7: error: the parameter 'x' of 'k' has no type [E0502]
# CHECK: note: bind it with --signature
# CHECK-SAME: -T x='*fp32'
# CHECK: error: the constexpr parameter 'B' of 'k' has no value [E0502]
# CHECK: note: fix it with -D B=VALUE
# CHECK: error: the dtype parameter 'T' of 'k' has no type [E0502]
# CHECK: note: bind it with -T T=fp32
# CHECK: error: unknown name 'nope'
# The body is checked all the same; what depends on unbound parameters stays silent.
# CHECK-NOT: error:
@jit
def k(x, B: constexpr, T: dtype):
    store(x + arange(0, B), zeros((B,), T) + nope)
