#!/usr/bin/env python3
"""symbols.py BUILD [--bless]: what the shared libraries show is what tests/Inputs/symbols says they showed before.

One list for each SONAME: the functions, from `nm -D`, and the size of each struct of the headers. Within a SONAME
nothing goes and no struct changes its size; what is new is added by --bless, which refuses the rest: then FSC_SOVERSION
in CMakeLists.txt has to grow. The headers have one style of names: fsc_ and small letters for functions and types, FSC_
and capitals for constants; in fsc.hpp small letters in the namespace fsc.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LISTS = os.path.join(ROOT, "tests", "Inputs", "symbols")
LIBRARIES = {"libfsc-runtime.so": ["runtime/fsc_runtime.h"], "libfsc.so": ["runtime/fsc_runtime.h", "compiler/fsc.h"]}


def run(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def soname(library):
    return re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", library))[1]


def functions(library):
    return {"function " + name for name in re.findall(r" T (\w+)$", run("nm", "-D", "--defined-only", library), re.M)}


def structs(headers):
    """As the C compiler sees them: those whose fields the headers show."""
    names = []
    for header in headers:
        with open(os.path.join(ROOT, header), encoding="utf-8") as file:
            names += re.findall(r"^typedef struct (\w+) \{", file.read(), re.M)
    lines = ['printf("struct %s of %%zu bytes\\n", sizeof(%s));' % (name, name) for name in sorted(names)]
    text = '#include <stdio.h>\n#include "%s"\nint main(void) {\n%s\n}\n' % (os.path.basename(headers[-1]),
                                                                             "\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "sizes.c"), os.path.join(folder, "sizes")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        run("cc", "-std=c17", "-I" + os.path.join(ROOT, "runtime"), "-I" + os.path.join(ROOT, "compiler"), source, "-o",
            program)
        return set(run(program).splitlines())


def misnamed(path, text):
    """Names that the header declares in another style."""
    text = re.sub(r"//.*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", "", text, flags=re.S if path.endswith(".h") else 0)
    names = set(re.findall(r"\b(?:fsc|FSC|Fsc)\w*", text))
    declared = set(re.findall(r"^(?:typedef )?(?:struct|enum|union|class) (\w+)|^using (\w+)|^} (\w+);", text, re.M))
    declared = {name for match in declared for name in match if name}
    wrong = {name for name in names if not re.fullmatch(r"fsc(_[a-z0-9]+)*|FSC_[A-Z0-9_]+", name)}
    wrong |= {name for name in declared if not (name.startswith("fsc_") or path.endswith(("p", "types.h")))
              or not re.fullmatch("[a-z0-9_]+", name)}
    return ["%s: '%s' is not in the headers' style of names" % (path, name) for name in sorted(wrong)]


def compare(name, before, now):
    """Sentences about what went or changed, and what is new."""
    gone = ["%s has no more: %s; put it back, or raise FSC_SOVERSION in CMakeLists.txt" % (name, line)
            for line in sorted(before - now)]
    new = ["%s is not in its list: %s; tests/symbols.py BUILD --bless adds it" % (name, line)
           for line in sorted(now - before)]
    return gone, new


def main():
    build, bless = sys.argv[1], "--bless" in sys.argv
    problems = []
    for header in ("runtime/fsc_types.h", "runtime/fsc_runtime.h", "compiler/fsc.h", "compiler/fsc.hpp"):
        with open(os.path.join(ROOT, header), encoding="utf-8") as file:
            problems += misnamed(header, file.read())
    for file, headers in LIBRARIES.items():
        library = os.path.join(build, file)
        name = soname(library)
        path = os.path.join(LISTS, name + ".txt")
        before = set(open(path, encoding="utf-8").read().splitlines()) if os.path.exists(path) else set()
        now = functions(library) | structs(headers)
        gone, new = compare(name, before, now)
        problems += gone if bless else gone + new
        if bless and not gone:
            os.makedirs(LISTS, exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write("".join(line + "\n" for line in sorted(now)))
    print("\n".join(problems) or "symbols: as they were")
    return 1 if problems else 0


def self_test():
    """A function that went, a struct that grew, one that is new; names of another style."""
    before, now = {"function fsc_a", "struct B of 8 bytes"}, {"function fsc_c", "struct B of 16 bytes"}
    gone, new = compare("x", before, now)
    ok = len(gone) == 2 and len(new) == 2 and "struct B of 8" in gone[1] and not compare("x", before, before)[0]
    lawful = "typedef struct fsc_a {\n} fsc_a;\nenum { FSC_B };\nfsc_status fsc_f(void); /* FscOld */\n"
    ok = ok and not misnamed("x.h", lawful) and not misnamed("x.hpp", "class buffer {\n};\nusing list = fsc::a;\n")
    ok = ok and len(misnamed("x.h", "typedef struct Rec {\n} fsc_rec;\ntypedef FscArg fsc_y;\n")) == 2
    ok = ok and len(misnamed("x.hpp", "class Buffer {\n};\n")) == 1
    print("symbols self-test: " + ("passed" if ok else "failed: %r %r" % (gone, new)))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(self_test() if "--self-test" in sys.argv else main())
