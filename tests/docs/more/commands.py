# Every `$ fsc …` in the pages prints today what the page shows; `commands.py FSC --bless` rewrites the pages.
# A page's commands run in their order in one folder: the files of Inputs/, dsl_examples/, docs/, and what
# `$ cat > FILE <<'EOF'` of the page writes. `./NAME` is the program of docs/examples/NAME.c, and a page that shows such
# a file shows all of it. A command whose output the page leaves out is not run, but for `python3 …` and `fsc … >log`.
# Not compared: what holds a time or this machine's devices, registers, which are this machine's ptxas's, addresses, and
# how often a race was seen. Checks run on one host thread here, so that the same program always comes first.
# RUN: %python %s fsc
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
# Pages that show files of docs/examples.
SOURCES = ["docs/how-to/runtime.md", "docs/how-to/checking.md", "docs/how-to/embedding.md"]
PAGES = ["README.md", "docs/explanation/architecture.md", "docs/reference/tool.md", "docs/reference/ir.md",
         "docs/reference/language.md", *SOURCES, "docs/how-to/profiling.md", "docs/explanation/claims.md"]
PAGES += sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "tutorials", "[0-9]*.md")))
SILENT = re.compile(r"python3 |fsc .* >log$")
VARYING = re.compile(r"\d ms\b|GB/s|^cpu |libcuda|\|sum of a row", re.M)
MEASURED = re.compile(r"^  (registers per thread|spills|blocks per SM|persistent grid) .*\n", re.M)
MASKED = [(re.compile(r"\b0x[0-9a-f]{6,}"), "0x…"), (re.compile(r"\([0-9.]+ ms, "), "(… ms, ")]


def masked(text):
    for pattern, instead in MASKED:
        text = pattern.sub(instead, text)
    return text


def comparable(text, command):
    return masked(text if "--registers" in command else MEASURED.sub("", text))


def run(command, tool, folder):
    """The command with the tool in place of fsc, in a copy of the examples' folder tree."""
    first, newline, rest = command.partition("\n")
    line = re.sub(r"^fsc\b", tool, first.split("  #")[0])
    line = re.sub(r"^python3\b", sys.executable, line)
    line = re.sub(r"^\./(\w+)", os.path.join(os.path.dirname(tool), "tests", r"\1_example"), line)
    if "--check" in line and "--device" not in line:
        line = line.replace("--check", "--check --device=emu:1")
    done = subprocess.run(["bash", "-c", "set -o pipefail; " + line + newline + rest], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, NO_COLOR="1"), timeout=120)
    return done.stdout


def blocks(text):
    """(start, end, command, shown) of every command of the page, in order; of `cat` with all lines that it writes."""
    for fence in re.finditer(r"^```\w*\n(.*?)^```", text, re.M | re.S):
        parts = list(re.finditer(r"^\$ (cat > .*? <<'(\w+)'\n(?:.*\n)*?\2\n|(?:fsc|python3) .*\n|\./.*\n)",
                                 fence.group(1), re.M))
        for i, part in enumerate(parts):
            end = parts[i + 1].start() if i + 1 < len(parts) else len(fence.group(1))
            yield (fence.start(1) + part.end(), fence.start(1) + end, part.group(1).rstrip("\n"),
                   fence.group(1)[part.end():end])


def check_page(page, tool):
    """How many commands were compared, the differences, and the page as it should be."""
    text = open(os.path.join(ROOT, page), encoding="utf-8").read()
    compared, wrong, edits = 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("dsl_examples", "docs"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        for path in glob.glob(os.path.join(ROOT, "tests", "docs", "Inputs", "*")):
            shutil.copy(path, folder)
        for start, end, command, shown in blocks(text):
            writes = command.startswith("cat ")
            if not writes and not SILENT.match(command) and (not shown.strip() or "..." in shown or
                                                             VARYING.search(masked(shown))):
                continue
            got = run(command, tool, folder)
            compared += not writes
            if comparable(got, command) != comparable(shown, command):
                wrong.append(f"{page}: $ {command}\n--- shown\n{shown}--- printed\n{got}")
                edits.append((start, end, got))
    for start, end, got in reversed(edits):
        text = text[:start] + got + text[end:]
    return compared, wrong, text


def check_source(page):
    """The differences between the files of docs/examples that a page shows and the files."""
    text = open(os.path.join(ROOT, page), encoding="utf-8").read()
    shown = re.findall(r"^```\w+\n((?:/\*|//|#) ([\w.]+\.(?:c|cpp|txt)) - .*?)^```", text, re.M | re.S)
    assert shown, f"{page} shows no file of docs/examples"
    paths = glob.glob(os.path.join(ROOT, "docs", "examples", "**", "*"), recursive=True)
    files = {os.path.basename(path): open(path, encoding="utf-8").read() for path in paths if os.path.isfile(path)}
    return [f"{page}: {name} is not as docs/examples has it" for part, name in shown if part != files.get(name)]


def main():
    tool, bless = os.path.abspath(sys.argv[1]), "--bless" in sys.argv
    compared, wrong = 0, [w for page in SOURCES for w in check_source(page)]
    for page in PAGES:
        start = time.monotonic()
        n, differences, text = check_page(page, tool)
        print(f"{page}: {n} commands, {time.monotonic() - start:.1f} s")
        compared += n
        wrong += differences
        if bless:
            open(os.path.join(ROOT, page), "w", encoding="utf-8").write(text)
    assert compared >= 16, f"only {compared} commands with output were found"
    if wrong and not bless:
        print("\n".join(wrong))
        return 1
    print(f"{compared} commands")
    return 0


sys.exit(main())
