# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# A file indented with tabs, with blanks inside its lines.
@jit
def f():
	if a:
		x =	1
	y = 2
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    if
# CHECK-NEXT:      condition: name a
# CHECK-NEXT:      assign
# CHECK-NEXT:        target: name x
# CHECK-NEXT:        value: int 1
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name y
# CHECK-NEXT:      value: int 2
# CHECK-NOT:{{.}}
