# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Strings: quotes, prefixes, escapes, long ones, adjacent ones.
@jit
def f():
    x = 'single' , "double"
    x = "it's", 'a "b"'
    x = "a\tb\n\\ \" \0"
    x = r"raw\n"
    x = b'bytes' u"unicode" f"{x}"
    x = """long "quoted" text
        of two lines"""
    x = "one\
    two"
    x = ("a" 'b'
         """c""")
    x = "\q\x41"
    x = ""
    x = "größe → ∞"
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        string "single"
# CHECK-NEXT:        string "double"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: tuple
# CHECK-NEXT:        string "it's"
# CHECK-NEXT:        string "a \"b\""
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "a\x09b\x0a\\ \" \x00"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "raw\\n"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "bytesunicode{x}"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "long \"quoted\" text\x0a        of two lines"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "one    two"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "abc"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "\\qA"
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string ""
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: string "größe → ∞"
# CHECK-NOT:{{.}}
