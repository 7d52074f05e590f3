"""listings.py - every listing of docs/python.md runs, in the page's order, in one program; what it prints is what the
page shows below it. A listing that imports torch runs where torch sees a GPU; elsewhere it is compiled, and the last
line says how many that were.
"""
import contextlib
import io
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def has_torch():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def main():
    os.chdir(ROOT)
    with open("docs/python.md", encoding="utf-8") as file:
        page = file.read()
    listings = list(re.finditer(r"^```python\n(.*?)^```\n(?:```\n(.*?)^```\n)?", page, re.M | re.S))
    assert len(listings) > 6, f"only {len(listings)} listings were found"
    names, ran, compiled, wrong = {"__name__": "listing"}, 0, 0, []
    for listing in listings:
        text, shown = listing.group(1), listing.group(2) or ""
        line = page.count("\n", 0, listing.start(1))
        code = compile("\n" * line + text, "docs/python.md", "exec")
        if re.search(r"^import torch", text, re.M) and not has_torch():
            compiled += 1
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(code, names)
        ran += 1
        if said.getvalue() != shown:
            wrong.append(f"docs/python.md:{line + 1}: shown\n{shown}--- printed\n{said.getvalue()}")
    print("\n".join(wrong))
    print(f"{ran} listings ran, {compiled} want torch and a GPU")
    return bool(wrong)


sys.exit(main())
