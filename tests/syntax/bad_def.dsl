# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Headers of functions.
# CHECK: bad_def.dsl:[[#@LINE+9]]:5: error: found '(' where a name is expected [E0119]
# CHECK: bad_def.dsl:[[#@LINE+10]]:7: error: found 'a' where '(' is expected [E0119]
# CHECK: bad_def.dsl:[[#@LINE+9]]:8: error: ')' closes nothing [E0105]
# CHECK: bad_def.dsl:[[#@LINE+10]]:9: error: found 'b' where '=', ':', ')' or ',' is expected [E0119]
# CHECK: bad_def.dsl:[[#@LINE+11]]:7: error: found an integer where a name, '**', '*' or ')' is expected [E0119]
# CHECK: bad_def.dsl:[[#@LINE+12]]:9: error: ')' cannot stand here [E0119]
# CHECK: bad_def.dsl:[[#@LINE+13]]:5: error: found 'if' where a name is expected [E0119]
# CHECK-NOT: {{error|warning}}:
@jit
def (a): pass
@jit
def f a): pass
@jit
def g(a b): pass
@jit
def h(1): pass
@jit
def i(a:): pass
@jit
def if(a): pass
