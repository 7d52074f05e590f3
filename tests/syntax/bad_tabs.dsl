# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Tabs and spaces mixed in the indentation.
# CHECK: bad_tabs.dsl:[[#@LINE+6]]:1: error: tabs and spaces are mixed in the indentation [E0101]
# CHECK: note: indent the whole file with one of them; four spaces are customary
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = 1
	y = 2
    if n:
    	z = 3
