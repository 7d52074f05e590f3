"""listings.py - every listing of the pages about Python runs, in the pages' order, in one program; what it prints is
what the page shows below it. A listing that imports torch runs where torch sees a GPU; elsewhere it is compiled, and
the last line says how many that were.
"""
import contextlib
import io
import linecache
import os
import re
import sys

PAGES = "docs/how-to/python.md docs/how-to/from-triton.md".split()
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def has_torch():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def listings():
    """(page, line, text, what is shown below it)"""
    for page in PAGES:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for found in re.finditer(r"^```python\n(.*?)^```\n(?:```\n(.*?)^```\n)?", text, re.M | re.S):
            yield page, text.count("\n", 0, found.start(1)), found.group(1), found.group(2) or ""


def main():
    os.chdir(ROOT)
    names, ran, compiled, wrong = {"__name__": "listing"}, 0, 0, []
    for page, line, text, shown in listings():
        text = "\n" * line + text
        code = compile(text, page, "exec")
        linecache.cache[page] = len(text), None, text.splitlines(True), page  # as a notebook has its cells
        if re.search(r"^import torch", text, re.M) and not has_torch():
            compiled += 1
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(code, names)
        ran += 1
        if said.getvalue() != shown:
            wrong.append(f"{page}:{line + 1}: shown\n{shown}--- printed\n{said.getvalue()}")
    assert ran + compiled > 8, f"only {ran + compiled} listings were found"
    print("\n".join(wrong))
    print(f"{ran} listings ran, {compiled} want torch and a GPU")
    return bool(wrong)


sys.exit(main())
