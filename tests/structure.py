#!/usr/bin/env python3
"""structure.py ROOT: checks the shape of the source tree; structure.py --self-test: checks the checks.

Fails on: an include of a folder that the including one does not stand on (STANDS_ON); LLVM's headers outside
compiler/codegen/; a CUDA header anywhere; numbers read or written, or characters classified, as the process's locale
says (runtime/base/number.h, runtime/base/ascii.h); a missing table; a file with no head comment; an absolute path of
one machine; a code of a diagnostic that no test expects; a property of ops that stands outside their table: a list of
more than four, an array by op, a question about the order of the enum; an op that reference/ir.md of docs/ does not
describe, or describes otherwise than the table; a list of passes in a page that is not in the table's order; a path in a page that
leads nowhere; a line over 120 columns; a source file over 500 lines; a folder with more than 25 source files; what
page_problems looks at.
"""

import os
import re
import sys

# Each folder of code and what it stands on: earlier rows, whose files it may include, and so on down. No circle can be
# written here. What compiler and runtime share lies below both, the JIT above both.
STANDS_ON = {
    "runtime": "",  # the public header
    "runtime/base": "runtime",
    "runtime/record": "runtime/base",
    "runtime/cache": "runtime/base",
    "runtime/device": "runtime/record",
    "runtime/debug": "runtime/device",
    "runtime/cuda": "runtime/device",
    "runtime/cpu": "runtime/debug",
    "runtime/emu": "runtime/cpu",
    "runtime/launch": "runtime/cuda",
    "compiler/base": "runtime/base",
    "compiler/layout": "compiler/base",
    "compiler/ir": "compiler/layout",
    "compiler/ir/text": "compiler/ir",
    "compiler/syntax": "compiler/base",
    "compiler/check": "compiler/ir compiler/syntax runtime/record",
    "compiler/check/builtin": "compiler/check",
    "compiler/check/expr": "compiler/check/builtin",
    "compiler/check/kernel": "compiler/check",
    "compiler/check/stmt": "compiler/check",
    "compiler/passes": "compiler/ir",
    "compiler/passes/analysis": "compiler/passes",
    "compiler/passes/scalar": "compiler/passes/analysis",
    "compiler/passes/distribute": "compiler/passes/analysis",
    "compiler/passes/exchange": "compiler/passes/analysis",
    "compiler/passes/schedule": "compiler/passes/analysis",
    "compiler/passes/lint": "compiler/passes/analysis runtime/record",
    "compiler/codegen": "compiler/passes",  # the facts about values
    "compiler/codegen/host": "compiler/codegen",
    "compiler/codegen/simt": "compiler/codegen",
    "compiler/codegen/simt/access": "compiler/codegen/simt",
    "compiler/codegen/nvptx": "compiler/codegen/simt",
    "compiler/codegen/emu": "compiler/codegen/simt",
    "compiler": "compiler/check compiler/codegen runtime/device",
    "compiler/tool": "compiler",
    "compiler/tool/run": "compiler/tool",
    "compiler/tool/bench": "compiler/tool/run",
    "compiler/tool/test": "compiler/tool/run",
    "compiler/tool/help": "compiler/tool",
    "compiler/tool/info": "compiler/tool/run runtime/cache",
    "compiler/tool/compile": "compiler/tool/info",
    "compiler/tool/tune": "compiler/tool/compile",
    "compiler/tool/edit": "compiler/tool",
    "compiler/tool/profile": "compiler/tool/info runtime/debug",
    "compiler/tool/viz": "compiler/tool/info compiler/tool/test runtime/debug",
    "compiler/tool/explore": "compiler/tool/viz",
    "runtime/jit": "compiler runtime/launch runtime/cache runtime/debug",
    "runtime/python": "compiler",
}

# Folders of pages: each README lists the pages beside it.
LISTED = ("docs", "docs/tutorials", "docs/how-to", "docs/reference", "docs/reference/diagnostics", "docs/explanation",
          "docs/design", "docs/lab")
GLOSSARY, IR_PAGE = "docs/reference/glossary.md", "docs/reference/ir.md"
TOP = ("bench", "build", "compiler", "docs", "dsl_examples", "runtime", "tests")
DIAGNOSTICS = "compiler/base/diag.def"
TABLES = [
    DIAGNOSTICS,
    "compiler/ir/ops.def",
    "compiler/check/builtin/builtin.def",
    "compiler/passes/passes.def",
    "runtime/cuda/cuda_api.def",
]
SOURCE_FOLDERS = ("compiler", "runtime", "dsl_examples", "tests", "bench", "docs", "cmake", ".ci")
CODE = (".c", ".h", ".def", ".l", ".y")
SOURCES = CODE + (".py", ".js", ".css", ".html", ".cu", ".cpp", ".sh", ".cmake")

MOST_COLUMNS, MOST_LINES, MOST_FILES = 120, 500, 25
# What cannot be broken: data and recorded outputs, the text of a lit case, which is what is tested, lines that programs
# print or read (a page's blocks without a language, its generated tables, measurements in docs/lab), one long word.
DATA = re.compile(r"\.(svg|csv|json|seeds|supp|vim)$|/Inputs/|^bench/counters\.txt$")
CASE = re.compile(r"tests/[^/]+/.*\.(dsl|ir|test)$|tests/(check|syntax)/triton/|tests/(tool|counts|bench)/.*\.py$")
PRINTED = re.compile(r"^```(\w*)\n.*?^```|^<!-- (?!end).*?^<!-- end -->", re.S | re.M)
FOUND_CASE = re.compile(r"(test_\w+\.py|\w+_test\.c)$|tests/(?!run/|runtime/|unit/)")  # a suite finds these by name

PASSES = "compiler/passes/passes.def"
# A path of the tree, in full or as the pages shorten it: from compiler/ or runtime/, or from the page's own folder.
PAGE_PATH = re.compile(r"(?<![\w/.<$%{*~-])((?:[\w.-]+/)+[\w.-]*\w(?:\.\w+)?/?)(?![\w*<{$(/])")
PATH_TAIL = (".c", ".h", ".def", ".py", ".l", ".y", ".md", ".dsl", ".sh", ".cmake", ".cu", ".csv")
GENERATED = re.compile(r"build/|syntax/(parse\.tab|scan\.lex)\.h$|check/lib\.def$|tool/(pages|vizpage)\.def$")

OPS = "compiler/ir/ops.def"
MOST_OPS = 4  # named in one condition, or before one statement of a switch: more are a property, and that is a column
OP = r"OP_(?!COUNT\b|LIMIT\b)[A-Z0-9]+\b"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
# What follows the locale of the process, which a host program chooses. The tool chooses none,
# so it may print as it likes.
READS_LOCALE = re.compile(r"\b(?:strto(?:d|f|ld)|atof|localeconv|setlocale) *\(")
CTYPE = re.compile(r"#[ \t]*include[ \t]*<w?ctype\.h>")
FLOAT_FORMAT = re.compile(r"%[-+ #0-9.*]*[lL]?[aefgAEFG](?![a-z])")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
OWN_LOCALE = ("runtime/base/number.c", "compiler/ir/shown.def")  # shown.def: formats for number_format
# Homes, temporary and work folders of one machine. /usr and /opt are the same everywhere.
MACHINE_PATH = re.compile(r"(?<![\w.~$}@%/*-])/(?:work|root|home|Users|mnt|data)/[\w.]")


def below(folder):
    """All that the folder stands on."""
    names = STANDS_ON[folder].split()
    return set(names).union(*map(below, names))


def included_folder(target):
    """The folder that `target` of an #include lies in,
    for the two include paths compiler/ and runtime/ besides the root;
    None: it is generated at the top."""
    here = os.path.dirname(target)
    if not here:
        return {"fsc_runtime.h": "runtime", "fsc_types.h": "runtime", "build_id.h": None}.get(target, "compiler")
    return here if here.startswith("runtime") else "compiler/" + here


def include_problem(path, kind, target):
    """Why `path` must not include `target`, or None."""
    if target in ("cuda.h", "cuda_runtime.h", "nvml.h"):
        return "a CUDA header: the driver's ABI is declared in runtime/"
    if target.startswith(("llvm-c/", "llvm/")):
        return (None if path.startswith(("compiler/codegen/", "tests/unit/"))
                else "LLVM is seen by compiler/codegen/ only")
    if kind == "<" or not path.startswith(("compiler/", "runtime/")):
        return None
    here, there = os.path.dirname(path), included_folder(target)
    if here not in STANDS_ON:
        return "%s/ has no row in STANDS_ON of structure.py" % here
    if os.path.basename(target) == "private.h" and not here.startswith(there):
        return "it is private to %s/" % there
    if there in below(here) | {here, None}:
        return None
    return "%s/ stands on %s" % (here, ", ".join(sorted(below(here))) or "nothing")


def locale_problem(path, line):
    """What of the line depends on the process's locale, or None."""
    if not path.startswith(("compiler/", "runtime/")) or not path.endswith(CODE) or path in OWN_LOCALE:
        return None
    if READS_LOCALE.search(line):
        return "follows the locale: number_read of runtime/base/number.h"
    if path.startswith("compiler/tool/"):
        return None
    if CTYPE.search(line):
        return "follows the locale: runtime/base/ascii.h"
    formats = any(FLOAT_FORMAT.search(s.replace("%%", "")) for s in STRING.findall(line))
    return ("follows the locale: number_format of runtime/base/number.h" if formats and "number_format(" not in line
            else None)


def check_file(path, text):
    """Problems of one file, as sentences; `path` is relative to the root."""
    problems = []
    if path.endswith(CODE):
        for match in INCLUDE.finditer(text):
            why = include_problem(path, match.group(1), match.group(2))
            if why:
                line = text.count("\n", 0, match.start()) + 1
                problems.append("%s:%d: includes %s: %s" % (path, line, match.group(2), why))
    if path.endswith((".c", ".h", ".def")) and not text.lstrip().startswith(("/*", "//")):
        problems.append("%s:1: no head comment" % path)
    if path.endswith((".c", ".h")) and path.startswith(("compiler/", "tests/unit/")):
        problems += property_problems(path, text)
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            problems.append("%s:%d: a path of one machine: %s" % (path, number, line.strip()[:80]))
        why = locale_problem(path, line)
        if why:
            problems.append("%s:%d: %s: %s" % (path, number, why, line.strip()[:80]))
    return problems + width_problems(path, text)


def width_problems(path, text):
    """Lines over 120 columns that could be broken."""
    if DATA.search(path) or CASE.match(path):
        return []
    if path.endswith(".md"):
        text = PRINTED.sub(lambda m: m.group() if m.group(1) else "\n" * m.group().count("\n"), text)
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) <= MOST_COLUMNS or path.startswith("docs/lab/") and line.startswith("|"):
            continue
        if len(line) - max(map(len, line.split())) > MOST_COLUMNS // 3:
            problems.append("%s:%d: a line of %d columns: %s" % (path, number, len(line), line.strip()[:60]))
    return problems


def size_problems(sizes):
    """Source files of too many lines, folders of too many source files; `sizes`: lines by path."""
    problems = ["%s: %d lines" % (path, n) for path, n in sorted(sizes.items()) if n > MOST_LINES]
    folders = {}
    for path in sizes:
        if not FOUND_CASE.search(path):
            folders.setdefault(os.path.dirname(path), []).append(path)
    return problems + ["%s/: %d source files" % (folder, len(paths)) for folder, paths in sorted(folders.items())
                       if len(paths) > MOST_FILES]


def path_problems(page, text, known):
    """Paths in the text of a page that are none of `known`, the tree's files and folders."""
    problems = []
    starts = ("", "compiler/", "runtime/", "docs/", "tests/", "compiler/codegen/", os.path.dirname(page) + "/")
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)
    for match in PAGE_PATH.finditer(text):
        path = match.group(1).rstrip("/")
        ours = path.split("/")[0] in ("compiler", "runtime", "tests", "bench", "docs", "dsl_examples")
        if not (ours or path.endswith(PATH_TAIL)) or GENERATED.match(path) or re.search(r"[A-Z]{3}", path):
            continue
        if not any(os.path.normpath(start + path) in known for start in starts):
            line = text.count("\n", 0, match.start()) + 1
            problems.append("%s:%d: there is no %s" % (page, line, path))
    return problems


def pass_problems(page, text, table):
    """Lists of passes in the page's code that have a name which is no pass, or another order than the table."""
    order = re.findall(r"^PASS\((\w+)", table, re.M)
    problems = []
    for match in re.finditer(r"`([^`\n]+)`|^([a-z_0-9 ]+)$", text, re.M):
        names = (match.group(1) or match.group(2)).split()
        if len(names) < 4 or 2 * sum(name in order for name in names) <= len(names):
            continue
        at = [order.index(name) if name in order else -1 for name in names]
        if -1 in at or at != sorted(at):
            line = text.count("\n", 0, match.start()) + 1
            problems.append("%s:%d: not the passes of passes.def in their order: %s" % (page, line, " ".join(names)))
    return problems


def property_problems(path, text):
    """Where the file says of ops what ops.def should say; a test (`path` is in tests/unit/) may list them."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    found = []
    lists = path.startswith("compiler/")
    for match in re.finditer(r"(?:case\s+%s\s*:\s*)+" % OP, text):
        found += [(match.start(), "a list of ops")] if lists and match.group().count("case") > MOST_OPS else []
    at = 0
    for part in re.split(r"([;{}?,])", text):
        found += [(at, "a list of ops")] if lists and len(re.findall(r"[!=]=\s*" + OP, part)) > MOST_OPS else []
        at += len(part)
    found += [(m.start(), "the order of ops") for m in re.finditer(r"[<>]=?\s*%s|\b%s\s*[-+<>]" % (OP, OP), text)]
    found += [(m.start(), "an array by op") for m in re.finditer(r"\[%s\]\s*=[^=]" % OP, text)]
    return ["%s:%d: %s: a property is a column of ops.def" % (path, text.count("\n", 0, at) + 1, what)
            for at, what in found]


def op_problems(table, page):
    """Rows of ops.def that the tables of IR_PAGE do not hold as they are, and the other way."""
    rows = re.findall(r'^OP\(\w+,\s*"(\w+)",\s*(-?\d+),\s*(-?\d+),(?:\s*\w+,){2}\s*(\w+),', table, re.M)
    rows = [[name] + [n.replace("-1", "any") for n in (args, results)] + [effect]
            for name, args, results, effect in rows]
    told = [[cell.strip(" `") for cell in line.split("|")[1:5]] for line in re.findall(r"^\| `\w+` \|.*", page, re.M)]
    told = [row for row in told if row[3:] and re.fullmatch("[A-Z]+", row[3])]
    problems = ["%s: no row says `%s` as ops.def does: %s" % (IR_PAGE, row[0], " ".join(row)) for row in rows
                if row not in told]
    return problems + ["%s: `%s` is none of ops.def" % (IR_PAGE, row[0]) for row in told if row not in rows]


def code_problems(table, tests):
    """The codes of the table that no line of a test expects: a CHECK of a lit case, an assert of a unit test."""
    expected = set(re.findall(r"^\W*(?:[A-Z0-9_-]+:|assert_).*\[([EWR]\d{4})\]", "\n".join(tests), re.M))
    codes = sorted(set(re.findall(r"^DIAG\((\w+),", table, re.M)))
    return ["%s: no test expects [%s]" % (DIAGNOSTICS, code) for code in codes if code not in expected]


def page_problems(texts):
    """A folder of compiler/ or runtime/ without a README, a page that the README of its folder does not list, a glossary
    out of order. `texts`: of every file, by path."""
    folders = {"/".join(path.split("/")[:2]) for path in texts if path.startswith(("compiler/", "runtime/"))
               and path.count("/") > 1 and path.endswith(CODE)}
    problems = ["%s: no README.md says what lives there" % folder for folder in sorted(folders)
                if folder + "/README.md" not in texts]
    for folder in LISTED:
        listed = texts.get(folder + "/README.md", "")
        problems += ["%s/README.md: %s is not in its list" % (folder, path.split("/")[-1]) for path in sorted(texts)
                     if re.match(folder + r"/[^/]+\.md$", path) and "](%s)" % path.split("/")[-1] not in listed
                     and not path.endswith("/README.md")]
    words = [word.lower() for word in re.findall(r"^- \*\*(.+?)\*\*", texts.get(GLOSSARY, ""), re.M)]
    return problems + ["%s: '%s' stands behind '%s'" % (GLOSSARY, word, before)
                       for before, word in zip(words, words[1:]) if before >= word]


def tree(root):
    """(path, text) of every text file of the project, paths relative to `root`."""
    tops = [name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name))]
    paths = [name for name in tops if not name.startswith(".git") or name in (".gitignore", ".gitattributes")]
    for folder in SOURCE_FOLDERS:
        for here, subfolders, names in os.walk(os.path.join(root, folder)):
            subfolders[:] = [name for name in subfolders if name not in ("__pycache__", "build")]
            paths += [os.path.relpath(os.path.join(here, name), root) for name in names]
    for path in sorted(paths):
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
        if b"\0" not in data and path != "tests/structure.py":
            yield path.replace(os.sep, "/"), data.decode("utf-8", "replace")


def top_problems(folders):
    """Folders at the top are a fixed few."""
    return ["%s: no folder of the top; they are %s" % (name, ", ".join(TOP)) for name in sorted(folders)
            if name not in TOP and name[0] != "."]


def check_tree(root):
    """Prints the report; returns how many problems there are."""
    problems = top_problems(entry.name for entry in os.scandir(root) if entry.is_dir())
    problems += ["%s: the table is missing" % path for path in TABLES if not os.path.exists(os.path.join(root, path))]
    lines, sizes, files, table, tests, ops = {}, {}, 0, "", [], {OPS: "", PASSES: "", IR_PAGE: ""}
    known = {"build"}
    texts = {}
    for path, text in tree(root):
        files += 1
        texts[path] = text
        table += text if path == DIAGNOSTICS else ""
        tests += [text] if path.startswith("tests/") else []
        ops[path] = text if path in ops else ""
        problems += check_file(path, text)
        if path.endswith(SOURCES) and "/Inputs/" not in path:
            sizes[path] = text.count("\n")
        if path.endswith(CODE):
            top = "/".join(path.split("/")[:2]) if path.count("/") > 1 else path.split("/")[0]
            lines[top] = lines.get(top, 0) + text.count("\n")
    for folder in SOURCE_FOLDERS + ("",):
        for here, _, names in os.walk(os.path.join(root, folder)) if folder else [(root, [], os.listdir(root))]:
            known |= {os.path.normpath(os.path.relpath(os.path.join(here, name), root)) for name in names + ["."]}
    for page, text in texts.items():
        if page.endswith(".md") and not page.startswith(("docs/lab/", "docs/changelog")):
            problems += path_problems(page, text, known) + pass_problems(page, text, ops[PASSES])
    problems += code_problems(table, tests) + op_problems(ops[OPS], ops[IR_PAGE]) + page_problems(texts)
    problems += size_problems(sizes)
    print("lines: " + ", ".join("%s %d" % item for item in sorted(lines.items())) + "; all %d" % sum(lines.values()))
    print("\n".join(problems))
    print("structure: %d files, %d problems" % (files, len(problems)))
    return len(problems) + (files == 0)


def self_test():
    """Each check must catch its planted fault, and let the lawful neighbour pass."""
    head = "/* x.c - a file. */\n"
    cases = [
        (1, "compiler/base/x.c", head + '#include "ir/ir.h"\n'),
        (1, "compiler/ir/x.c", head + '#include "passes/passes.h"\n'),
        (1, "compiler/syntax/x.c", head + '#include "ir/ir.h"\n'),
        (1, "compiler/passes/x.c", head + '  #  include "codegen/llvm.h"\n'),
        (1, "compiler/passes/x.c", head + '#include "passes/analysis/factop.h"\n'),
        (1, "compiler/passes/scalar/x.c", head + '#include "passes/exchange/online.h"\n'),
        (1, "compiler/codegen/nvptx/x.c", head + '#include "passes/analysis/factop.h"\n'),
        (1, "compiler/codegen/nvptx/x.c", head + '#include "passes/private.h"\n'),
        (1, "compiler/codegen/nvptx/x.c", head + '#include "syntax/ast.h"\n'),
        (1, "compiler/check/x.c", head + '#include "runtime/device/device.h"\n'),
        (1, "compiler/ir/x.c", head + '#include "runtime/record/record.h"\n'),
        (1, "compiler/ir/x.c", head + '#include "fsc.h"\n'),
        (1, "compiler/driver.c", head + '#include "tool/tool.h"\n'),
        (1, "compiler/tool/run/x.c", head + '#include "tool/info/needs.h"\n'),
        (1, "runtime/base/x.c", head + '#include "runtime/record/record.h"\n'),
        (1, "runtime/device/x.c", head + '#include "runtime/cuda/driver.h"\n'),
        (1, "runtime/launch/x.c", head + '#include "runtime/emu/emu.h"\n'),
        (1, "runtime/launch/x.c", head + '#include "fsc.h"\n'),
        (1, "compiler/new/x.c", head + '#include "base/base.h"\n'),
        (1, "compiler/passes/x.c", head + "#include <llvm-c/Core.h>\n"),
        (1, "runtime/base/x.c", head + '#include "base/base.h"\n'),
        (1, "runtime/x.c", head + "#include <cuda.h>\n"),
        (1, "compiler/base/x.c", "int x;\n"),
        (1, "compiler/check/x.c", head + "x = strtod(text, &end);\n"),
        (1, "compiler/tool/x.c", head + "x = atof(text);\n"),
        (1, "compiler/tool/main.c", head + 'setlocale(LC_ALL, "");\n'),
        (1, "runtime/x.c", head + "#include <ctype.h>\n"),
        (1, "compiler/ir/x.c", head + 'text_printf(out, "x %-9.*g", 3, x);\n'),
        (1, "runtime/x.c", head + 'if (sscanf(text, "%lf", &x) == 1) return;\n'),
        (1, "compiler/base/x.def", head + 'DIAG(E0000, E_X, "is %g")\n'),
        (1, "docs/x.md", "see /" + "home/someone/x\n"),
        (1, "compiler/passes/x.c",
         head + "switch (k) {\ncase OP_A: case OP_B:\ncase OP_C: /* x */ case OP_D: case OP_E: f();\n"),
        (1, "compiler/passes/x.c",
         head + "if (k == OP_A || k == OP_B || k == OP_C ||\n k == OP_D || k == OP_E) f();\n"),
        (1, "compiler/passes/x.c", head + "return k >= OP_A;\n"),
        (1, "tests/unit/x.c", head + "k = OP_A + 1;\n"),
        (1, "compiler/passes/x.c", head + "int t[] = {[OP_A] = 3};\n"),
        (0, "compiler/passes/x.c", head + "case OP_A: case OP_B: case OP_C: case OP_D: f(); case OP_E: g(t[OP_A]);\n"),
        (0, "compiler/codegen/x.c", head + '#include "passes/passes.h"\n#include <llvm-c/Core.h>\n'),
        (0, "compiler/check/stmt/x.c", head + '#include "check/sema.h"\n#include "runtime/record/record.h"\n'),
        (0, "compiler/passes/lint/x.c", head + '#include "passes/private.h"\n#include "runtime/base/ascii.h"\n'),
        (0, "compiler/driver.c", head + '#include "codegen/codegen.h"\n#include "fsc_runtime.h"\n'),
        (0, "compiler/ir/x.c", head + 'text_printf(out, "%s %d %% full %llx", number_format(t, 9, "%g", x), 3, y);\n'),
        (0, "compiler/tool/x.c", head + '#include <ctype.h>\nprintf("%.3f", x);\n'),
        (0, "runtime/jit/jit.c", head + '#include "fsc.h"\n#include "base/base.h"\n'),
        (0, "docs/x.md", "/usr/bin/env and build/release/fsc, ~/x\n"),
        (1, "docs/x.md", "word " * 25 + "\n"),
        (1, "docs/x.md", "| " + "word " * 25 + "|\n"),
        (1, "docs/x.md", "```c\n" + "f(); " * 25 + "\n```\n"),
        (1, "compiler/base/x.c", head + "f(); " * 25 + "\n"),
        (1, "tests/run/x.py", "f(), " * 25 + "\n"),
        (0, "docs/x.md", "```\n" + "word " * 25 + "\n```\n<!-- table: x -->\n" + "word " * 25 + "\n<!-- end -->\n"),
        (0, "docs/lab/x.md", "| " + "12.3 " * 25 + "|\n"),
        (0, "docs/x.md", "word " * 24 + "\n[word](" + "w" * 120 + ")\n"),
        (0, "tests/passes/x.ir", "word " * 25 + "\n"),
    ]
    failed = 0
    for number, (folder, names) in enumerate(STANDS_ON.items()):
        if not set(names.split()) <= set(list(STANDS_ON)[:number]):
            failed += 1
            print("self-test: %s stands on what is no earlier row: %s" % (folder, names))
    for wanted, path, text in cases:
        got = check_file(path, text)
        if len(got) != wanted:
            failed += 1
            print("self-test: wanted %d problems of %s, got %r from:\n%s" % (wanted, path, got, text))
    row, line = 'DIAG(E0101, E_A, "a")\n', "error: a [E0101]\n"
    for wanted, tests in [(0, ["# CHECK: x.dsl:3:1: " + line]), (1, ["# an " + line]),
                          (1, ["# RUN: x\n# CHECK: error: a\n"])]:
        if len(code_problems(row, tests)) != wanted:
            failed += 1
            print("self-test: wanted %d codes without a test in %r" % (wanted, tests))
    row, told = 'OP(ADD, "add", 2, -1, NONE, ELEMENT, PURE, TILE,', "| `add` | 2 | any | PURE | a + b |\n"
    for wanted, page in [(0, told), (1, ""), (2, told.replace("any", "1")), (1, told + told.replace("add", "sub"))]:
        if len(op_problems(row, page)) != wanted:
            failed += 1
            print("self-test: wanted %d problems of ops in %r, got %r" % (wanted, page, op_problems(row, page)))
    right = {"runtime/x/x.c": head, "runtime/x/README.md": "", "docs/design/x.md": "",
             "docs/design/README.md": "[x.md](x.md)", "docs/reference/README.md": "[words](glossary.md)",
             GLOSSARY: "- **arm**: a\n- **Axis**: b\n"}
    for wanted, path, text in [(0, "a", ""), (1, "compiler/y/y.c", head), (1, "docs/design/y.md", ""),
                               (1, "docs/y.md", ""), (1, GLOSSARY, "- **axis**: b\n- **arm**: a\n")]:
        got = page_problems({**right, path: text})
        if len(got) != wanted:
            failed += 1
            print("self-test: wanted %d problems of pages with %s, got %r" % (wanted, path, got))
    many = {"compiler/base/%d.c" % i: 500 for i in range(25)}
    listed = "PASS(fold, x)\nPASS(cse, x)\nPASS(dce, x)\nPASS(layout, x)\nPASS(pack, x)\n"
    tree_of_two = {"compiler/ir/ir.h", "docs/y.md"}
    others = [
        (0, top_problems([".git", "build", "docs"])), (1, top_problems(["docs", "random-failures"])),
        (0, size_problems({**many, **{"tests/run/test_%d.py" % i: 1 for i in range(40)}})),
        (1, size_problems({**many, "compiler/base/x.def": 1})),
        (1, size_problems({"tests/run/x.py": 501})),
        (0, path_problems("docs/x.md", "`ir/ir.h` [x](y.md) `compiler/new/NAME.c` *.c 1/2", tree_of_two)),
        (3, path_problems("docs/x.md", "`ir/gone.h` [x](z/y.md) compiler/gone", tree_of_two)),
        (0, pass_problems("docs/x.md", "`fold cse layout pack` and `fold that is it`", listed)),
        (1, pass_problems("docs/x.md", "```\nfold cse pack layout\n```\n", listed)),
        (1, pass_problems("docs/x.md", "`fold cse near layout pack`", listed)),
    ]
    for number, (wanted, got) in enumerate(others):
        if len(got) != wanted:
            failed += 1
            print("self-test: wanted %d problems of other case %d, got %r" % (wanted, number, got))
    print("structure self-test: %d cases, %d failed" % (len(cases) + len(others) + 11, failed))
    return failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: structure.py ROOT | --self-test")
    sys.exit(1 if (self_test() if sys.argv[1] == "--self-test" else check_tree(sys.argv[1])) else 0)
