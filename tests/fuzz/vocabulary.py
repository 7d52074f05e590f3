#!/usr/bin/env python3
"""vocabulary.py ROOT OUT: the words of the language and of the IR's text, from the compiler's own tables.

Out: OUT/dsl.def and OUT/ir.def, rows WORD(group, "text") for mutate.c, which puts a word in the place of another of its
group; OUT/dsl.dict and OUT/ir.dict, the same words as dictionaries of libFuzzer. The build runs this whenever a table
changes, and it fails where a table yields fewer words than it must: so no dictionary is older than the language.
"""

import os
import re
import sys

# What every table must yield at least: a table that is written in a new way must not be read as an empty one.
LEAST = {"keyword": 25, "operator": 35, "builtin": 80, "argument": 40, "dtype": 12, "op": 60, "literal": 40}


def rows(text, macro):
    """The arguments' text of each MACRO(...) row, comments left out."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.findall(r"^\s*%s\((.*?)\)\s*(?=^|$|%s)" % (macro, macro), text, flags=re.S | re.M)


def strings(text):
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)


def literals(text):
    """The string literals of C code that could be words of a source: names of options, values and attributes."""
    text = re.sub(r"/\*.*?\*/|^\s*#.*?$", " ", text, flags=re.S | re.M)
    return [s for s in strings(text) if re.fullmatch(r"\.?[A-Za-z_][\w.]*", s)]


class Tables:
    """Reads the tables under ROOT; counts what each kind has yielded."""

    def __init__(self, root):
        self.root = root
        self.count = dict.fromkeys(LEAST, 0)
        self.words = []

    def text(self, path):
        with open(os.path.join(self.root, "compiler", path), encoding="utf-8") as file:
            return file.read()

    def add(self, kind, group, word):
        self.count[kind] += 1
        if word and (group, word) not in self.words:
            self.words.append((group, word))

    def take(self, wanted):
        """The words so far; fails on a table that gave too few of a wanted kind."""
        short = ["%s: %d, not %d" % (k, self.count[k], LEAST[k]) for k in wanted if self.count[k] < LEAST[k]]
        if short:
            sys.exit("vocabulary.py no longer understands the tables: " + "; ".join(short))
        words, self.words, self.count = self.words, [], dict.fromkeys(LEAST, 0)
        return words


def operator_group(text):
    if text in ("==", "!=", "<", ">", "<=", ">="):
        return "COMPARE"
    if text.endswith("=") and text not in ("=", ":="):
        return "AUGMENT"
    return "BINARY" if text in ("+", "-", "*", "/", "%", "@", "&", "|", "^", "**", "//", "<<", ">>") else "MARK"


def language(t):
    scanner = t.text("syntax/scan.l")
    for line in re.findall(r'^("[^ \t]+")\s+\{', scanner, flags=re.M):
        for text in strings(line):
            if text.isalpha():
                t.add("keyword", "KEYWORD", text)
            elif "\\" not in text:
                t.add("operator", operator_group(text), text)
    for text in "+-*/%@&|^~<>=()[]{}.,:;":
        t.add("operator", operator_group(text), text)
    table = t.text("check/builtin/builtin.def")
    for row in rows(table, "BUILTIN"):
        name, least, names = re.match(r'"([^"]*)",\s*(\d+),\s*\d+,\s*"([^"]*)"', row).groups()
        t.add("builtin", "CALL%d" % min(int(least), 3), name)
        for argument in names.split():
            t.add("argument", "ARGUMENT", argument)
    for row in rows(table, "LIBRARY"):
        t.add("builtin", "CALL1", strings(row)[0])
    table = t.text("../runtime/base/dtype.def")
    for row in rows(table, "DTYPE") + rows(table, "UTYPE"):
        t.add("dtype", "TYPE", strings(row)[0])
    compiler = os.path.join(t.root, "compiler")
    for folder, _, names in sorted(os.walk(os.path.join(compiler, "check"))):
        for name in sorted(name for name in names if name.endswith(".c")):
            for word in literals(t.text(os.path.relpath(os.path.join(folder, name), compiler))):
                t.add("literal", "LITERAL", word)
    return t.take(("keyword", "operator", "builtin", "argument", "dtype", "literal"))


def ir(t):
    for row in rows(t.text("ir/ops.def"), "OP"):
        name, operands, results, attribute = re.match(r'\w+,\s*"(\w+)",\s*(-?\d+),\s*(-?\d+),\s*(\w+)', row).groups()
        plain = attribute == "NONE" and results == "1" and operands in ("1", "2", "3")
        t.add("op", "OP" + operands if plain else "OP", name)
    for name in [strings(row)[0] for row in rows(t.text("../runtime/base/dtype.def"), "DTYPE")] + ["ptr"]:
        t.add("dtype", "TYPE", name)
    for row in rows(t.text("ir/atomic.def"), "ATOMIC"):
        t.add("literal", "ATOMIC", strings(row)[0])
    for table in re.findall(r"const \w+_words\[\] = \{(.*?)\}", t.text("ir/text/words.c"), flags=re.S):
        group = "CHOICE_" + "_".join(strings(table)[:1]).upper()
        for word in literals(table):
            t.add("literal", group, word)
    for path in ("ir/text/read.c", "ir/text/token.c", "layout/text.c"):
        for word in literals(t.text(path)):
            t.add("literal", "LITERAL", word)
    for mark in ("%", "#", "=", ",", ":", "(", ")", "{", "}", "[", "]", "<", ">", "->", "tile<", "#layout<", "loc("):
        t.add("operator", "MARK", mark)
    return t.take(("op", "dtype", "literal"))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(path, head, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\n".join(lines) + "\n")


def main(root, out):
    t = Tables(root)
    for name, words in (("dsl", language(t)), ("ir", ir(t))):
        groups = sorted({group for group, _ in words})
        enums = ["GROUP(%s)" % group for group in groups]
        write(os.path.join(out, name + ".def"), "/* Written by vocabulary.py. */\n",
              ["#ifdef GROUP", *enums, "#endif", "#ifdef WORD"]
              + ["WORD(%s, %s)" % (group, quoted(text)) for group, text in words] + ["#endif"])
        write(os.path.join(out, name + ".dict"), "# Written by vocabulary.py.\n",
              [quoted(text) for text in sorted({text for _, text in words})])
        print("%s: %d words, %d groups" % (name, len(words), len(groups)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
