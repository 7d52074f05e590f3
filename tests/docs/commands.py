# Every `$ fsc …` in the pages prints today what the page shows; `commands.py FSC --bless` rewrites the pages.
# Not compared: what holds a time or this machine's devices, and registers, which are this machine's ptxas's.
# RUN: %python %s fsc
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGES = ["README.md", "docs/tool.md", "docs/ir.md", "docs/language.md"]
VARYING = re.compile(r"\d ms\b|GB/s|^cpu |libcuda", re.M)


MEASURED = re.compile(r"^  (registers per thread|spills|blocks per SM|persistent grid) .*\n", re.M)


def comparable(text, command):
    return text if "--registers" in command else MEASURED.sub("", text)


def run(command, tool, folder):
    """The command with the tool in place of fsc, in a copy of the examples' folder tree."""
    line = re.sub(r"^fsc\b", tool, command.split("  #")[0])
    done = subprocess.run(["bash", "-c", "set -o pipefail; " + line], cwd=folder, capture_output=True, text=True,
                          env=dict(os.environ, NO_COLOR="1"), timeout=120)
    return done.stdout + done.stderr


def blocks(text):
    """(start, end, command, shown) of every command that shows output."""
    for fence in re.finditer(r"^```\w*\n(.*?)^```", text, re.M | re.S):
        parts = list(re.finditer(r"^\$ (fsc .*)\n", fence.group(1), re.M))
        for i, part in enumerate(parts):
            end = parts[i + 1].start() if i + 1 < len(parts) else len(fence.group(1))
            shown = fence.group(1)[part.end():end]
            if shown.strip():
                yield fence.start(1) + part.end(), fence.start(1) + end, part.group(1), shown


def main():
    tool, bless = os.path.abspath(sys.argv[1]), "--bless" in sys.argv
    compared, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(os.path.join(ROOT, "dsl_examples")), os.path.join(folder, "dsl_examples"))
        for page in PAGES:
            path = os.path.join(ROOT, page)
            text = open(path, encoding="utf-8").read()
            for start, end, command, shown in reversed(list(blocks(text))):
                if VARYING.search(shown) or "..." in shown:
                    continue
                got = run(command, tool, folder)
                compared += 1
                if comparable(got, command) != comparable(shown, command):
                    wrong.append(f"{page}: $ {command}\n--- shown\n{shown}--- printed\n{got}")
                    text = text[:start] + got + text[end:]
            if bless:
                open(path, "w", encoding="utf-8").write(text)
    assert compared >= 8, f"only {compared} commands with output were found"
    if wrong and not bless:
        print("\n".join(wrong))
        return 1
    print(f"{compared} commands")
    return 0


sys.exit(main())
