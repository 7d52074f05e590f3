# The list under "How to read it" in docs/how-to/checking.md quotes the output above it:
# each item begins with words of that output.
# RUN: %python %s
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
with open(os.path.join(ROOT, "docs", "how-to", "checking.md"), encoding="utf-8") as file:
    before, _, after = file.read().partition("\nHow to read it")
output = before.rsplit("```", 2)[1]
quotes = [quote for line in re.findall(r"^- (.*?): ", after.split("\n\n")[1], re.M)
          for quote in re.findall(r"`([^`]*)`", line)]
assert len(quotes) >= 5, quotes
for quote in quotes:
    assert quote in output, quote
