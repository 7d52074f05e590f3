"""_text.py - a kernel and all that it reaches, as one text that the compiler reads by itself.

In: a Python function. Out: its source, the functions it calls and the constants it reads, found as Triton finds them,
through the function's closure and globals. Method: of each function the names that are not its own are looked up; what
they stand for gets one name in the text, and where that is another one than the source has, the source is changed
there. A function of the kernel's file keeps its lines, so that messages name them; the rest follows behind.
"""
import ast
import builtins
import inspect
import linecache
import math
import textwrap
import types

from .._kernel import _lock
from .language import WORDS, Builtin, constexpr, dtype, pointer_type

HEAD = "import triton; import triton.language as tl; from triton.language.extra import libdevice"


class Unwritable(Exception):
    """What has no text in the kernel language."""


class Function:
    """The source of a Python function, parsed when it is first asked for."""

    def __init__(self, fn, is_constexpr=False):
        code = fn.__code__
        self.fn, self.file, self.line, self.is_constexpr = fn, code.co_filename, code.co_firstlineno, is_constexpr
        self._lines = linecache.getlines(self.file, fn.__globals__)  # a cell may be gone later
        self._parsed, self._replaced = None, None

    def replace(self, source):
        self._parsed, self._replaced = None, source

    def source(self):
        if self._replaced is not None:
            return self._replaced
        if not 0 < self.line <= len(self._lines):
            raise OSError(f"the source of {self.fn.__qualname__} is not to be found: @triton.jit wants a function of a "
                          "file or of a notebook's cell")
        return textwrap.dedent("".join(inspect.getblock(self._lines[self.line - 1:])))

    def parsed(self):
        """(the lines of the source, its FunctionDef)"""
        if self._parsed is None:
            text = self.source()
            with _lock:  # Python 3.11 does not parse in two threads at once
                node = ast.parse(text).body[0]
            if not isinstance(node, ast.FunctionDef):
                raise TypeError(f"{self.fn.__qualname__} is no function of its own: @triton.jit wants a def")
            self._parsed = text.encode().split(b"\n"), node
        return self._parsed

    def find(self, name):
        """What a name stands for, or KeyError."""
        names = self.fn.__code__.co_freevars
        if name in names:
            try:
                return self.fn.__closure__[names.index(name)].cell_contents
            except ValueError:  # not assigned yet
                raise KeyError(name) from None
        if name in self.fn.__globals__:
            return self.fn.__globals__[name]
        return vars(builtins)[name]


def _own_names(node):
    """The names that a function binds itself."""
    own = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            own.add(n.id)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            own.update((a.asname or a.name).split(".")[0] for a in n.names)
    return own


def _chains(node):
    """(root Name, [Attribute, …]) of every name that is read, with what stands behind its dots."""
    if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
        chain, root = [], node
        while isinstance(root, ast.Attribute):
            chain.append(root)
            root = root.value
        if isinstance(root, ast.Name):
            yield root, chain[::-1]
            return
        node = root
        yield from _chains(node)
        return
    for child in ast.iter_child_nodes(node):
        yield from _chains(child)


def is_constexpr_annotation(annotation):
    return annotation is not None and "constexpr" in ast.unparse(annotation)


class Bundle:
    """The text under way."""

    def __init__(self, entry):
        self.entry, self.names, self.known = entry, {}, {}  # name: what it stands for; what stands for: name
        self.functions, self.constants = [], []
        self.name = self.add(entry)

    def _name(self, key, hint):
        name, count = hint, 0
        while self.names.get(name, key) != key or hasattr(builtins, name):
            count += 1
            name = f"{hint}__{count}"
        self.names[name], self.known[key] = key, name
        return name

    def add(self, function):
        """The name of a function in the text."""
        key = "function", id(function.fn)
        if key not in self.known:
            self._name(key, function.fn.__name__)
            place = len(self.functions)
            self.functions.append(None)
            self.functions[place] = function, self._body(function)
        return self.known[key]

    # ---- What values are in the text ---------------------------------------------------------------------------------

    def literal(self, value):
        """A value as an expression; Unwritable where the kernel language has none."""
        if isinstance(value, constexpr):
            if isinstance(value.value, types.FunctionType):  # @tl.constexpr above a function
                value.__fsc_function__ = getattr(value, "__fsc_function__", None) or Function(value.value, True)
                return self.add(value.__fsc_function__)
            return self.literal(value.value)
        if value is None or isinstance(value, (bool, str)):
            return repr(value)
        if isinstance(value, int):
            return repr(int(value))
        if isinstance(value, float):
            return repr(float(value)) if math.isfinite(value) else f"float(\"{float(value)}\")"
        if isinstance(value, (tuple, list)):
            return self.tuple_of(value, map(self.literal, value))
        if isinstance(value, (Builtin, dtype, pointer_type)):
            return value.text
        function = getattr(value, "__fsc_function__", None)
        if isinstance(function, Function):
            return self.add(function)
        if isinstance(value, type) and value in WORDS:
            return WORDS[value]
        if is_record(value):
            return self._record(value)
        if getattr(value, "__fsc_text__", None):
            return value.__fsc_text__
        if type(value).__module__ == "torch" and type(value).__name__ == "dtype":
            return str(value)
        if isinstance(value, (types.BuiltinFunctionType, type)) and value.__module__ in ("builtins", "math"):
            return value.__name__ if value.__module__ == "builtins" else f"math.{value.__name__}"
        raise Unwritable(type(value).__name__)

    def tuple_of(self, value, items):
        """A tuple like that one, of these expressions; a named one by its class."""
        return f"{self.literal(type(value)) if is_record(type(value)) else ''}({''.join(i + ', ' for i in items)})"

    def _record(self, kind):
        """The name of a class of named tuples, a constant of the text."""
        key = "record", kind
        if key not in self.known:
            name = self._name(key, kind.__name__)
            defaults = self.literal(tuple(kind._field_defaults.values()))
            self.constants.append(f"{name} = namedtuple({kind.__name__!r}, {self.literal(kind._fields)}, {defaults})")
        return self.known[key]

    def _constant(self, value, hint):
        """A number or text by its name, so that messages have it."""
        text = self.literal(value)
        if not isinstance(value, (bool, int, float, str, tuple, list, constexpr)) or not hint.isidentifier():
            return text
        key = "constant", text
        if key not in self.known:
            self.constants.append(f"{self._name(key, hint)} = {text}")
        return self.known[key]

    # ---- Functions ---------------------------------------------------------------------------------------------------

    def _changed(self, function, root, chain):
        """(end of what is replaced, text) of a name, or None: it stays."""
        try:
            value = function.find(root.id)
        except KeyError:
            return None  # the compiler says so, if it comes by
        end, hint = root, root.id
        for attribute in chain:
            if not isinstance(value, (types.ModuleType, types.SimpleNamespace, type)) or value in WORDS:
                break
            try:
                value = getattr(value, attribute.attr)
            except AttributeError:
                return None
            end, hint = attribute, attribute.attr
        if function.is_constexpr and isinstance(value, types.FunctionType):  # as Python would run it
            return end, self.add(Function(value, True))
        try:
            text = self._constant(getattr(value, "value", value) if _is_enum(value) else value, hint)
        except Unwritable:
            return None
        return end, text

    def _body(self, function):
        """The lines of the statements, names changed; the number of the first one in the file."""
        lines, node = function.parsed()
        own, edits = _own_names(node), []
        for statement in node.body:
            for root, chain in _chains(statement):
                change = None if root.id in own else self._changed(function, root, chain)
                if change:
                    end, text = change
                    edits.append((root.lineno, root.col_offset, end.end_lineno, end.end_col_offset, text.encode()))
        lines = list(lines)
        for line, column, end_line, end, text in sorted(edits, reverse=True):
            lines[line - 1:end_line] = [lines[line - 1][:column] + text + lines[end_line - 1][end:]]
        first = node.body[0]
        column = first.col_offset if lines[first.lineno - 1][:first.col_offset].strip() else 0
        body = lines[first.lineno - 1:]
        body[0] = (b"" if column == 0 else b" " * 4) + body[0][column:]
        while body and not body[-1].strip():
            body.pop()
        return function.line + first.lineno - 1, b"\n".join(body).decode()

    def _head(self, function):
        """def of a function beside the kernel: defaults as they are, no annotations. As in Triton, what is constant
        is so by the call."""
        words, star = [], ""
        for p in inspect.signature(function.fn).parameters.values():
            star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            default = "" if p.default is p.empty else f"={self.literal(p.default)}"
            words.append(star + p.name + default)
        decorator = "triton.constexpr_function" if function.is_constexpr else "triton.jit"
        return f"@{decorator}\ndef {self.names_of(function)}({', '.join(words)}):"

    def names_of(self, function):
        return self.known["function", id(function.fn)]

    def text(self, head):
        """(the whole, [(its line, file, line there)]); head: the kernel's own def, and what goes before its body."""
        blocks, rest, places, out = [], [], [], [HEAD]
        heads = {id(f): self._head(f) for f, _ in self.functions[1:]}  # may add constants and functions
        while len(heads) + 1 < len(self.functions):
            heads.update((id(f), self._head(f)) for f, _ in self.functions[1:] if id(f) not in heads)
        for function, (line, body) in self.functions:
            words = head if function is self.entry else heads[id(function)]
            blocks.append((line, words.split("\n"), body, function.file))
        own = self.entry.file
        for line, words, body, file in sorted(blocks, key=lambda b: b[0]):
            gap = line - 1 - len(words) - len(out)
            if file != own or gap < 0:
                rest.append((line, words, body, file))
                continue
            out += [""] * gap + words + body.split("\n")
        for line, words, body, file in rest:
            out += words
            places.append((len(out) + 1, file, line))
            out += body.split("\n")
        return "\n".join(out + self.constants) + "\n", places


def is_record(kind):
    """Whether it is a class of named tuples."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_field_defaults")


def _is_enum(value):
    return any(base.__name__ == "Enum" and base.__module__ == "enum" for base in type(value).__mro__)
