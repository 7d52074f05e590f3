"""examples.py - docs/reference/examples.md has a row for every file of dsl_examples, and names no other."""
# RUN: %python %s
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
with open(os.path.join(ROOT, "docs", "reference", "examples.md"), encoding="utf-8") as file:
    page = file.read()
files = {name for name in os.listdir(os.path.join(ROOT, "dsl_examples")) if name.endswith(".dsl")}
rows = set(re.findall(r"^\| `(\w+\.dsl)` \|", page, re.M))
named = set(re.findall(r"`(\w+\.dsl)`", page))
assert rows == files, (sorted(files - rows), sorted(rows - files))
assert named <= files, sorted(named - files)
wanted = re.search(r"^## What you look for\n(.*?)^## ", page, re.M | re.S)[1]
assert len(re.findall(r"^\| \w[^|]* \| `", wanted, re.M)) > 15
print(f"{len(files)} files")
