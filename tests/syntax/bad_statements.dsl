# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Statements that break off, one error a line.
# CHECK: bad_statements.dsl:[[#@LINE+17]]:12: error: ')' closes nothing [E0105]
# CHECK: bad_statements.dsl:[[#@LINE+17]]:11: error: found an integer where the end of the line or ';' is expected [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+17]]:10: error: found 'x' where the end of the line or ';' is expected [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+17]]:11: error: the end of the line cannot stand here [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+17]]:9: error: 'in' cannot stand here [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+17]]:11: error: 'x' cannot stand here [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+17]]:10: error: ':' cannot stand here [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+17]]:7: error: ':' cannot stand here [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+19]]:12: error: ';' cannot stand here [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+19]]:11: error: found the end of the line where a name is expected [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+19]]:11: error: found the end of the line where 'import' or '.' is expected [E0119]
# CHECK: bad_statements.dsl:[[#@LINE+19]]:9: error: '=' cannot stand here [E0119]
# CHECK: note: '==' compares; '=' assigns, and stands behind a name at the start of a line
# CHECK: bad_statements.dsl:[[#@LINE+18]]:8: error: the end of the line cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    return )
    break 1
    pass x
    assert
    for in x: pass
    for i x: pass
    while: pass
    if: pass
    elif n: pass
    else: pass
    x = 1; ; y = 2
    import
    from a
    x + = 1
    x++
