# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Pointer annotations.
# CHECK: bad_pointer.dsl:[[#@LINE+7]]:11: error: 'volatile' before the element type of a pointer; only 'const' may stand there [E0113]
# CHECK: bad_pointer.dsl:[[#@LINE+6]]:30: error: found ')' where a name is expected [E0119]
# CHECK: bad_pointer.dsl:[[#@LINE+7]]:16: error: ']' cannot stand here [E0119]
# CHECK: bad_pointer.dsl:[[#@LINE+8]]:18: error: ']' cannot stand here [E0119]
# CHECK: bad_pointer.dsl:[[#@LINE+9]]:10: error: '**' cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@jit
def f(a: *volatile fp32, b: *): pass
@jit
def g(a: *fp32[]): pass
@jit
def h(a: *fp32[n:]): pass
@jit
def i(a: **fp32): pass
