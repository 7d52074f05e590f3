# docs/reference/builtins.md is the reference of every builtin: each name of `fsc --list-builtins` has one entry, whose
# signatures are those that the tool prints, and an example that calls it; `builtins.py FSC --bless` writes the
# signatures and the index anew. Every block of code there and in language.md compiles for sm_90, and what its comments
# state is compared with a run on the CPU (Inputs/example.py); `--device=emu` runs on another device, further words
# choose blocks that contain them.
# RUN: %python %s fsc
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "docs", "Inputs"))
from example import judge_block  # noqa: E402

PAGE = "docs/reference/builtins.md"
PAGES = [PAGE, "docs/reference/language.md"]
ENTRY = re.compile(r"^### ([^\n]*)\n(?:```\n(.*?)```\n)?(.*?)(?=^##|\Z)", re.M | re.S)
INDEX = re.compile(r"(?<=<!-- index -->\n).*?(?=<!-- end -->)", re.S)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)

# What must be found wrong, each by a word of its report.
PLANTED = [
    ("# x = fp32 [1, 2]\ncumsum(x)  # = fp32 [1, 4]", "gives [1.0, 3.0]"),
    ("# x = fp32 [1, 2]\ncumsum(x)  # = i32 [1, 3]", "another type"),
    ("# x = fp32 [1, 2]\nsum(x)  # = fp32 [3]", "another shape"),
    ("# x = fp32 [1, 2]\ncumsum(x)  # = fp32 3", "not a scalar"),
    ("# x = fp32 [1, 2]\nexp(x)  # = fp32 [2.7183, 7.3892]", "gives [2.718"),
    ("# x = fp32 [0, 2]\nx * -1.0  # = fp32 [0, -2]", "gives [-0.0"),
    ("sum(7, 3)  # error E0201", "is said to give"),
    ("store(3, 4)", "does not compile"),
    ("exp(1)  # = fp32 e", "cannot be read"),
    ("arange(0, 2)  # error E0311", "no error"),
    ("next_power_of_2(5)  # = constexpr 4", "another constant"),
    ('print("a")\n# prints b', "not printed"),
    ("@kernel(grid=(2,))\ndef k(y: *i32[2]):\n    store(y + program_id(0), 1)\n# y -> i32 [1, 0]",
     "then points to [1, 1]"),
]


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def names_of(heading):
    return [n.strip() for n in heading.split(",")]


def anchor(heading):
    """Where a heading is found in the page that is made of it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def index_of(text):
    """A row for each group, with a link for each name."""
    rows = ["| group | builtins |", "| --- | --- |"]
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        links = [f"[{n}](#{anchor(e[1])})" for e in ENTRY.finditer(part) for n in names_of(e[1])]
        if links:
            rows.append(f"| {part.splitlines()[0]} | {' '.join(links)} |")
    return "\n".join(rows) + "\n"


def blessed(text, listed):
    """The page with the signatures that the tool prints, and the index."""
    def entry(m):
        signatures = "\n".join(listed.get(n, n + "?") for n in names_of(m[1]))
        return f"### {m[1]}\n```\n{signatures}\n```\n{m[3]}"
    return INDEX.sub(lambda m: index_of(text), ENTRY.sub(entry, text))


def entry_problems(text, listed):
    """Names without an entry, with two, with none in the tool, and without an example that calls them."""
    wrong, seen = [], []
    for m in ENTRY.finditer(text):
        code = re.sub(r"#.*", "", "\n".join(b for kind, b in BLOCK.findall(m[3]) if kind == "python"))
        for name in names_of(m[1]):
            seen.append(name)
            if name not in listed:
                wrong.append(f"{PAGE}: {name} is no builtin")
            elif "not compiled yet" not in listed[name] and not re.search(rf"(?<!\w){re.escape(name)}\(", code):
                wrong.append(f"{PAGE}: no example of this entry calls {name}")
    wrong += [f"{PAGE}: no entry for {n}: add `### {n}`, run --bless" for n in listed if n not in seen]
    wrong += [f"{PAGE}: two entries for {n}" for n in sorted(set(seen)) if seen.count(n) > 1]
    return wrong


def link_problems(page, text):
    """Links to files and headings that are not there."""
    for place in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.S)):
        path, _, heading = place.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(ROOT, target)):
            yield f"{page}: the link {place} leads to no file"
        elif heading and heading not in [anchor(h)
                                         for h in re.findall(r"^#+ (.*)$", read(target) if path else text, re.M)]:
            yield f"{page}: the link {place} leads to no heading"


def blocks():
    """(place, text) of each block of code; a block of anything else shows a command, or signatures."""
    for page in PAGES:
        text = read(page)
        for m in BLOCK.finditer(text):
            if m[1] == "python":
                yield f"{page}:{text.count(chr(10), 0, m.start()) + 1}", m[2]


def bare_blocks(text):
    """Blocks of language.md that no test looks at."""
    for m in BLOCK.finditer(text):
        if m[1] != "python" and not m[2].startswith("$ "):
            line = text.count("\n", 0, m.start()) + 1
            yield f"docs/reference/language.md:{line}: this block is neither python nor a command that prints it"


def judge(tool, items, device):
    """(place, checks, problems) of each block."""
    def one(item):
        with tempfile.TemporaryDirectory() as folder:
            return (item[0],) + judge_block(tool, folder, item[1], device)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, items))


def self_test(tool):
    for (text, word), (_, _, problems) in zip(PLANTED, judge(tool, PLANTED, "cpu")):
        assert len(problems) == 1 and word in problems[0], (text, word, problems)
    listed = {"a": "a(x)", "b": "b(x)"}
    page = "<!-- index -->\n<!-- end -->\n## G\n### a, c\n```\na(y)\n```\n```python\na(1)\n```\n### a\n"
    assert len(entry_problems(page, listed)) == 4, entry_problems(page, listed)
    linked = "# A b\n[x](nowhere.md) [y](language.md#nowhere) [z](#a-b) [u](language.md#files)"
    assert len(list(link_problems(PAGE, linked))) == 2
    assert "a(x)\nc?" in blessed(page, listed) and "[a](#a-c)" in blessed(page, listed)


def main():
    tool, words = os.path.abspath(sys.argv[1]), [w for w in sys.argv[2:] if not w.startswith("--")]
    device = next((w[9:] for w in sys.argv if w.startswith("--device=")), "cpu")
    printed = subprocess.run([tool, "--list-builtins"], capture_output=True, text=True, check=True).stdout
    listed = {re.match(r"[\w.]+", line).group(): line for line in printed.splitlines()}
    text = read(PAGE)
    if "--bless" in sys.argv:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(blessed(text, listed))
        text = read(PAGE)
    wrong = entry_problems(text, listed) + list(bare_blocks(read("docs/reference/language.md")))
    wrong += [w for page in PAGES for w in link_problems(page, read(page))]
    wrong += [f"{PAGE}: the signatures or the index are old: run --bless"] if blessed(text, listed) != text else []
    found = judge(tool, [b for b in blocks() if not words or any(w in b[1] for w in words)], device)
    wrong += [f"{place}: {p}" for place, _, problems in found for p in problems]
    checked = sum(n > 0 for _, n, _ in found)
    if not words:
        self_test(tool)
        wrong += [f"only {checked} of {len(found)} examples state a result"] if 2 * checked < len(found) else []
        if len(found) < 50 or len(listed) < 100:
            wrong.append(f"only {len(found)} examples of {len(listed)} builtins were found")
    print("\n".join(wrong))
    print(f"{len(listed)} builtins, {len(found)} examples, {checked} of them with {sum(n for _, n, _ in found)} "
          "results")
    return 1 if wrong else 0


sys.exit(main())
