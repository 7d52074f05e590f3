# The colours of docs/editors: the words of the TextMate grammar and of Vim's syntax file are those of the compiler's
# tables (`editors.py FSC --bless` writes them), and a sample is coloured as it should be: by a small reader of
# TextMate's rules here, and by Vim where there is one. No builtin, keyword or type of dsl_examples/ is left without its
# colour.
# RUN: %python %s fsc
import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "fuzz"))
from vocabulary import rows, strings  # noqa: E402

FOLDER = os.path.join(ROOT, "docs", "editors")
GRAMMAR, VIM = os.path.join(FOLDER, "fsc.tmLanguage.json"), os.path.join(FOLDER, "vim", "syntax", "fsc.vim")
CALL = r"\b(?:%s)\b(?=\s*\()"
FORMS = {"builtins": CALL, "rule": CALL, "constants": r"(?<!\.)\b(?:%s)\b"}  # else: a word

# How a word may be coloured: the grammar's scope, and Vim's group.
KINDS = {
    "keyword": ("keyword.control", "fscKeyword"),
    "builtin": ("support.function.builtin", "fscBuiltin"),
    "rule": ("support.function.rule", "fscBuiltin"),
    "type": ("storage.type", "fscType"),
    "annotation": ("storage.modifier", "fscStorage"),
    "constant": ("constant.language", "fscConstant"),
    "unused": ("invalid.illegal", "fscUnused"),
    "number": ("constant.numeric", "fscNumber"),
    "string": ("string.quoted", "fscString"),
    "escape": ("constant.character", "fscEscape"),
    "comment": ("comment.line", "fscComment"),
    "decorator": ("entity.name.function.decorator", "fscDecorator"),
    "function": ("entity.name.function", "fscFunction"),
    "plain": ("", ""),
}

# Lines that come one after another, and the words to look at, in their order, each as kind:word.
SAMPLE = [
    ("@kernel(grid=(min(n, num_sms() * 2),), BLOCK=64)  # in range",
     "decorator:@kernel builtin:min plain:n rule:num_sms number:2 plain:BLOCK comment:range"),
    ("def sum_of(x: *const T[n], n: i32, max: constexpr = 0x1f, T: dtype = fp32):",
     "keyword:def function:sum_of annotation:const type:i32 plain:max annotation:constexpr number:0x1f "
     "annotation:dtype type:fp32"),
    ("    y = x.to(tl.float32, dtype=a).sum (0) + loader(exp) - x.dtype",
     "builtin:to type:float32 plain:dtype builtin:sum plain:loader plain:exp plain:dtype"),
    ('    if not 1e-5 < y2 and None: print(\'a\\n"\', r"load(", -inf, .5, 3)',
     "keyword:if keyword:not number:1e-5 plain:y2 keyword:and constant:None builtin:print string:a escape:\\n "
     "string:load constant:inf number:.5 number:3"),
    ("    '''a docstring",
     "string:docstring"),
    ("    def load(x)''' + while_ - yield",
     "string:def plain:while_ unused:yield"),
    ("    C: constexpr = constexpr(3) if x.shape else y.max(0)",
     "annotation:constexpr builtin:constexpr keyword:if plain:shape builtin:max"),
]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def words():
    """The lists of words, by the grammar's name for them."""
    scanner, table = read("compiler", "syntax", "scan.l"), read("compiler", "check", "builtin", "builtin.def")
    keyword_rows = re.findall(r'^("[A-Za-z"|]+)\s+\{ put\(yyextra, (\w+)', scanner, re.M)
    keywords = {w: token for text, token in keyword_rows for w in strings(text)}
    constants = {w for w, token in keywords.items() if token in ("TRUE_", "FALSE_", "NONE")}
    unused = {w for w, token in keywords.items() if token == "UNUSED"}
    named = re.search(r"constants\[\] = \{(.*?)\}", read("compiler", "check", "scope.c"))[1]
    builtins = {strings(row)[0] for kind in ("BUILTIN", "LIBRARY", "MISSING") for row in rows(table, kind)}
    rule = re.search(r"\} functions\[\] = \{(.*?)\n\};", read("compiler", "check", "kernel", "rule.c"), re.S)[1]
    long_forms = re.search(r"\} spellings\[\] = \{(.*?)\n\};", read("compiler", "check", "kernel",
                                                                    "signature.c"), re.S)[1]
    dtypes = read("runtime", "base", "dtype.def")
    types = {strings(row)[0] for kind in ("DTYPE", "UTYPE") for row in rows(dtypes, kind)}
    types |= {w for w in strings(long_forms) if re.fullmatch(r"b?(?:int|uint|float)\d\w*", w)}
    found = {"keywords": set(keywords) - constants - unused, "unused": unused,
             "constants": constants | set(strings(named)), "builtins": {n.split(".")[-1] for n in builtins},
             "types": types}
    found["rule"] = set(re.findall(r'\{"(\w+)"', rule)) - found["builtins"]
    for kind, least in {"keywords": 20, "unused": 10, "constants": 5, "builtins": 120, "types": 25, "rule": 5}.items():
        assert len(found[kind]) >= least, f"the tables are read as having only {sorted(found[kind])} as {kind}"
    return {kind: sorted(found[kind]) for kind in sorted(found)}


# ---- What the files should be ----------------------------------------------------------------------------------------

def blessed_grammar(lists):
    grammar = json.loads(read(GRAMMAR))
    for kind, names in lists.items():
        grammar["repository"][kind]["match"] = FORMS.get(kind, r"\b(?:%s)\b") % "|".join(names)
    return json.dumps(grammar, indent=2) + "\n"


def blessed_vim(lists):
    groups = [("fscKeyword", "keywords", ""), ("fscUnused", "unused", ""), ("fscConstant", "constants", ""),
              ("fscType", "types", ""), ("fscBuiltin", "builtins", "contained "), ("fscBuiltin", "rule", "contained ")]
    lines = []
    for group, kind, how in groups:
        start = f"syn keyword {group} {how}"
        lines += textwrap.wrap(" ".join(lists[kind]), 120, initial_indent=start, subsequent_indent=start)
    return re.sub(r'(?<=" words\n).*?(?=" end\n)', lambda m: "\n".join(lines) + "\n", read(VIM), flags=re.S)


# ---- TextMate's rules, as far as this grammar uses them --------------------------------------------------------------

class Colours:
    """The scope of each character of lines that come one after another."""

    def __init__(self, grammar):
        self.grammar, self.open = grammar, None

    def rules(self, patterns):
        for p in patterns:
            p = self.grammar["repository"][p["include"][1:]] if "include" in p else p
            if "patterns" in p and "begin" not in p:
                yield from self.rules(p["patterns"])
            else:
                yield p

    def first(self, patterns, line, at):
        """The earliest match; of several the rule that stands first."""
        found = [(re.compile(p.get("match") or p["begin"]).search(line, at), p) for p in self.rules(patterns)]
        return min((f for f in found if f[0]), key=lambda f: f[0].start(), default=(None, None))

    def line(self, line):
        scopes, at = [""] * len(line), 0
        while at <= len(line):
            at = self.inside(line, at, scopes) if self.open else self.outside(line, at, scopes)
        return scopes

    def outside(self, line, at, scopes):
        m, rule = self.first(self.grammar["patterns"], line, at)
        if not m:
            return len(line) + 1
        scopes[m.start():m.end()] = [rule.get("name", "")] * (m.end() - m.start())
        for i, capture in rule.get("captures", {}).items():
            scopes[m.start(int(i)):m.end(int(i))] = [capture["name"]] * (m.end(int(i)) - m.start(int(i)))
        if "begin" in rule:
            end = re.sub(r"\\(\d)", lambda g: re.escape(m[int(g[1])] or ""), rule["end"])
            self.open = rule, re.compile(end)
        return max(m.end(), at + (m.end() == at))

    def inside(self, line, at, scopes):
        rule, end = self.open
        last, (m, inner) = end.search(line, at), self.first(rule["patterns"], line, at)
        if m and (not last or m.start() < last.start()):
            scopes[at:m.start()] = [rule["name"]] * (m.start() - at)
            scopes[m.start():m.end()] = [inner["name"]] * (m.end() - m.start())
            return m.end()
        stop = last.end() if last else len(line)
        scopes[at:stop] = [rule["name"]] * (stop - at)
        self.open = None if last else self.open
        return stop if last and stop > at else max(stop, at) + (not last or stop == len(line))


def places():
    """(line number, column, word, scope, group) of the sample."""
    for number, (line, expected) in enumerate(SAMPLE):
        at = 0
        for kind, word in (w.split(":") for w in expected.split(" ")):
            exactly = r"(?<!\w)%s(?!\w)" if word[0].isalnum() else "%s"
            m = re.compile(exactly % re.escape(word)).search(line, at)
            assert m, (line, word)
            yield number, m.start(), word, *KINDS[kind]
            at = m.end()


def sample_problems(grammar):
    colours = Colours(grammar)
    seen = [colours.line(line) for line, _ in SAMPLE]
    for number, column, word, scope, _ in places():
        got = seen[number][column]
        if not (got.startswith(scope) if scope else got == ""):
            yield f"the grammar gives {word} of `{SAMPLE[number][0]}` {got or 'no scope'}, not {scope or 'none'}"


def example_problems(grammar, lists):
    """Words of the examples, in code, that should have a scope and have none."""
    wanted = {w: "keyword.control" for w in lists["keywords"]} | {w: "storage.type" for w in lists["types"]}
    folder, calls = os.path.join(ROOT, "dsl_examples"), 0
    for name in sorted(os.listdir(folder)):
        colours = Colours(grammar)
        for line in read(folder, name).splitlines() if name.endswith(".dsl") else []:
            scopes = colours.line(line)
            for m in re.finditer(r"[A-Za-z_]\w*", line):
                got, is_call = scopes[m.start()], line[m.end():].startswith("(") and m[0] in lists["builtins"]
                calls += is_call
                want = "support.function.builtin" if is_call else wanted.get(m[0])
                if want and not got.startswith((want, "entity.name.function", "comment", "string")):
                    yield f"{name}: {m[0]} of `{line.strip()}` has scope {got or 'none'}"
    assert calls > 100, calls


def vim_problems():
    vim = shutil.which("vim")
    if not vim or "+syntax" not in subprocess.run([vim, "--version"], capture_output=True, text=True).stdout:
        print("no vim with colours: they are not looked at")
        return
    with tempfile.TemporaryDirectory() as folder:
        source, script, out = (os.path.join(folder, n) for n in ("sample.dsl", "ask.vim", "out"))
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(line for line, _ in SAMPLE) + "\n")
        at = list(places())
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"set nocompatible rtp^={os.path.join(FOLDER, 'vim')}\nfiletype plugin on\nsyntax on\nedit "
                       f"{source}\n")
            file.write("let r = [&filetype, &commentstring]\n")
            for number, column, _, _, _ in at:
                file.write(f"call add(r, synIDattr(synID({number + 1}, {column + 1}, 1), 'name'))\n")
            file.write(f"call writefile(r, '{out}')\nqa!\n")
        done = subprocess.run([vim, "-N", "-u", "NONE", "-es", "-S", script], capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL)
        if not os.path.exists(out):
            yield f"vim leaves with {done.returncode}: {done.stdout}{done.stderr}"
            return
        got = read(out).splitlines()
    if got[:2] == ["", ""]:
        print("vim has none of its own files: the colours are not looked at")
        return
    if got[:2] != ["fsc", "# %s"]:
        yield f"vim takes a .dsl file as {got[:2]}"
    for (number, _, word, _, group), name in zip(at, got[2:]):
        if name != group and (group or name not in ("fscCall", "fscMember")):
            yield f"vim gives {word} of `{SAMPLE[number][0]}` {name or 'nothing'}, not {group or 'nothing'}"


def package_problems():
    """The package for VS Code names files that are there; the README's command for Sublime gives the same grammar."""
    package = json.loads(read(FOLDER, "package.json"))["contributes"]
    for part, key in ((package["languages"][0], "configuration"), (package["grammars"][0], "path")):
        json.loads(read(FOLDER, part[key]))
    grammar = json.loads(read(GRAMMAR))
    names = package["grammars"][0]["scopeName"], [e.lstrip(".") for e in package["languages"][0]["extensions"]]
    if (grammar["scopeName"], grammar["fileTypes"]) != names:
        yield "package.json and the grammar name other scopes or extensions"
    command = re.search(r"^(python3 -c '.*') fsc\.tmLanguage\.json > ", read(FOLDER, "README.md"), re.M)
    code = command[1].split("'")[1]
    done = subprocess.run([sys.executable, "-c", code, GRAMMAR], capture_output=True, timeout=60)
    if done.returncode or plistlib.loads(done.stdout) != grammar:
        yield f"the README's command for Sublime does not give the grammar: {done.stderr}"


def main():
    lists, wrong = words(), []
    for path, want in ((GRAMMAR, blessed_grammar(lists)), (VIM, blessed_vim(lists))):
        if "--bless" in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(want)
        elif read(path) != want:
            wrong.append(f"{os.path.relpath(path, ROOT)} is not what the tables give: run --bless")
    grammar = json.loads(read(GRAMMAR))
    wrong += [*sample_problems(grammar), *example_problems(grammar, lists), *vim_problems(), *package_problems()]
    # both must see a word that is missing, and one too many
    grammar["repository"]["builtins"]["match"] = r"\b(?:load)\b"
    assert len(list(sample_problems(grammar))) >= 5 and len(list(example_problems(grammar, lists))) > 50
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
