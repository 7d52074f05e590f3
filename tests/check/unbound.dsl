# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Parameters that nothing binds are one error, with a signature to copy.
# CHECK: unbound.dsl:[[#@LINE+10]]:7: error: 3 parameters of 'k' have no type or value: x, B, T [E0502]
# CHECK-NEXT: def k(
# CHECK-NEXT: {{\| +\^  ------------  -------- a type$}}
# CHECK-NEXT: {{\| +a value$}}
# CHECK-NEXT: note: say them by position, as in --signature "*fp32, 1024, fp32"
# CHECK-NEXT: note: or one by one: -T x='*fp32'; or annotate it
# CHECK: error: unknown name 'nope'
# The body is checked all the same; what depends on unbound parameters stays silent.
# CHECK-NOT: error:
@jit
def k(x, B: constexpr, T: dtype):
    store(x + arange(0, B), zeros((B,), T) + nope)
