"""walks.py - each door of docs/README.md leads to a first result within 15 minutes, by words and commands.

In: the pages of a walk, in their order. Out: the minutes of each, exit status 1 where one takes longer, or goes through
a page that its door does not list. 200 words a minute; half a minute for a command. What the commands print is compared
by commands.py, and the listings of Python by python.docs and lit.python.
"""
# RUN: %python %s
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prose import ROOT, paragraphs  # noqa: E402

MINUTES, WORDS, COMMAND = 15, 200, 0.5
WALKS = {  # the door: pages read from top to bottom
    "Ship a kernel from C or C++": ["README.md", "docs/how-to/install.md", "docs/how-to/embedding.md"],
    "Port from Triton": ["README.md", "docs/how-to/from-triton.md", "docs/how-to/python.md"],
    "Learn": ["README.md", "docs/tutorials/README.md", "docs/tutorials/1-first-kernel.md"],
    "Hack the compiler": ["docs/explanation/architecture.md", "docs/how-to/contributing.md"],
}
EVERYBODY = ("README.md", "docs/how-to/install.md", "docs/tutorials/1-first-kernel.md")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def minutes(text):
    words = sum(len(p.split()) for p in paragraphs(text))
    return words / WORDS + COMMAND * len(re.findall(r"^\$ ", text, re.M))


def main():
    doors = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", read("docs/README.md"), re.M | re.S))
    wrong = [f"docs/README.md has no door '{door}'" for door in WALKS if door not in doors]
    for door, pages in WALKS.items():
        wrong += [f"{door}: {page} is not listed" for page in pages if page not in EVERYBODY
                  and f"]({page[len('docs/'):]})" not in doors.get(door, "")]
        took = sum(minutes(read(page)) for page in pages)
        print(f"{door}: {took:.1f} minutes, {len(pages)} pages")
        if took > MINUTES:
            wrong.append(f"{door}: {took:.1f} minutes, not {MINUTES}")
    assert minutes("one two\n$ x\n") == 4 / WORDS + COMMAND
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
