# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Tabs and spaces mixed in the indentation.
# CHECK: bad_tabs.dsl:[[#@LINE+15]]:1: error: tabs and spaces are mixed in the indentation
# CHECK: note: indent the whole file with one of them; four spaces are customary
# CHECK: bad_tabs.dsl:[[#@LINE+13]]:2: error: this line's indentation matches no line above
# CHECK: note: it has 1 columns; the enclosing block has 0
# CHECK: bad_tabs.dsl:[[#@LINE+12]]:1: error: tabs and spaces are mixed in the indentation
# CHECK: note: indent the whole file with one of them; four spaces are customary
# CHECK: bad_tabs.dsl:[[#@LINE+10]]:5: error: an indented block cannot stand here
# CHECK: note: only the lines after a ':' are indented further
# CHECK: bad_tabs.dsl:[[#@LINE+9]]:1: error: tabs and spaces are mixed in the indentation
# CHECK: note: indent the whole file with one of them; four spaces are customary
# CHECK: bad_tabs.dsl:[[#@LINE+8]]:1: error: the end of the block cannot stand here
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = 1
	y = 2
    if n:
    	z = 3
