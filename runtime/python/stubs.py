"""stubs.py - the type stub of fsc.triton.language, for editors: its functions with their parameters.

In: the table of the compiler's builtins (compiler/check/builtin/builtin.def), the names of language.py. Out: the text
of language.pyi, to the file that is named. What a kernel computes has no type for Python: a tile is a `tensor`.
"""
import ast
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "..", "compiler", "check", "builtin", "builtin.def")
LANGUAGE = os.path.join(HERE, "fsc", "triton", "language.py")

HEAD = '''"""Names of triton.language; written by stubs.py."""
from typing import Any

TRITON_MAX_TENSOR_NUMEL: int

class constexpr:
    value: Any
    def __init__(self, value: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

class const: ...

class dtype:
    name: str
    primitive_bitwidth: int
    int_bitwidth: int
    fp_mantissa_width: int
    exponent_bias: int
    scalar: dtype
    def __init__(self, name: str) -> None: ...
    def is_floating(self) -> bool: ...
    def is_int(self) -> bool: ...
    def is_int_signed(self) -> bool: ...
    def is_int_unsigned(self) -> bool: ...
    def is_fp8(self) -> bool: ...
    def is_standard_floating(self) -> bool: ...
    def is_bool(self) -> bool: ...
    def is_ptr(self) -> bool: ...

class pointer_type:
    element_ty: Any
    def __init__(self, element_ty: Any, address_space: int = ..., const: bool = ...) -> None: ...

class tensor:
    dtype: Any
    shape: Any
    T: tensor
    def to(self, dtype: Any, fp_downcast_rounding: Any = ..., bitcast: bool = ...) -> tensor: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, index: Any) -> tensor: ...
'''
OPERATORS = ("add sub mul truediv floordiv mod and or xor lshift rshift lt le gt ge radd rsub rmul rtruediv rfloordiv "
             "rmod rand ror rxor").split()
TAIL = '''
class tensor_descriptor(tensor): ...

class slice: ...

def str_to_ty(name: str, _: Any = ...) -> Any: ...
def constexpr_function(fn: Any) -> Any: ...
'''


def table():
    """{name: (parameters, how many must be given)} of the builtins."""
    with open(TABLE, encoding="utf-8") as file:
        rows = re.findall(r'BUILTIN\("([\w.]+)",\s*(\d+),\s*\d+,\s*"([^"]*)"', file.read())
    return {name: (words.split(), int(least)) for name, least, words in rows}


def listed(name):
    """What a list of names in language.py holds."""
    with open(LANGUAGE, encoding="utf-8") as file:
        for node in ast.parse(file.read()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
                if isinstance(node.value, ast.Dict):
                    return [key.value for key in node.value.keys]
                return node.value.func.value.value.split()
    raise KeyError(name)


def text():
    known, lines = table(), [HEAD.rstrip()]
    lines += [f"    def __{name}__(self, other: Any) -> tensor: ..." for name in OPERATORS]
    lines += [TAIL.rstrip()]
    lines += [f"{name}: dtype" for name in listed("_TYPES")]
    for name in listed("BUILTINS"):
        words, least = known.get(name, (None, 0))
        if name.isupper() or name[0].isupper():
            lines += [] if name in HEAD else [f"{name}: Any"]
        elif words is None:
            lines.append(f"def {name}(*args: Any, **named: Any) -> Any: ...")
        else:
            given = ", ".join(f"{word}: Any{'' if i < least else ' = ...'}" for i, word in enumerate(words))
            lines.append(f"def {name}({given}) -> Any: ...")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(text())
