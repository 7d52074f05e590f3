"""lessons.py - each lesson has a figure and a live page, and takes as long as the list of lessons says.

In: docs/tutorials. Out: what is missing or says another time, exit status 1 then. `--bless` writes the times into the
list. Minutes are those of walks.py, by words and commands, without the exercises. commands.py runs the commands and
prints what they take; viz.figures compares the figures with what `fsc viz` shows.
"""
# RUN: %python %s
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prose import ROOT  # noqa: E402
from walks import MINUTES, minutes, read  # noqa: E402

FOLDER = "docs/tutorials"
ROW = re.compile(r"^\| \[[^\]]*\]\((\d[\w-]*\.md)\) \| [^|]* \| (\d+|\?) min \|$", re.M)
FIGURE = re.compile(r"^!\[([^\]]*)\]\((figures/[\w-]+\.svg)\)$", re.M)


def whole_minutes(text):
    return round(minutes(text.split("\n## Exercises")[0]))


def lesson_problems(name, text, told):
    figures, found = FIGURE.findall(text), []
    if not figures or not re.search(r"^<!-- fsc viz ", text, re.M):
        found.append(f"{name}: a figure or its live page is missing")
    for words, path in figures:
        path = os.path.join(ROOT, FOLDER, path)
        if len(words.split()) < 5:
            found.append(f"{name}: a figure says in words what it shows: '{words}'")
        if not os.path.exists(path) or ElementTree.parse(path).getroot().tag != "{http://www.w3.org/2000/svg}svg":
            found.append(f"{name}: {path} is no picture")
    took = whole_minutes(text)
    if took > MINUTES or str(took) != told:
        found.append(f"{name}: {took} minutes; the list says {told}, and {MINUTES} is the most")
    return found


def main():
    page = read(f"{FOLDER}/README.md")
    if "--bless" in sys.argv:
        page = ROW.sub(lambda m: re.sub(r"(\d+|\?) min \|$", f"{whole_minutes(read(f'{FOLDER}/{m[1]}'))} min |", m[0]),
                       page)
        with open(os.path.join(ROOT, FOLDER, "README.md"), "w", encoding="utf-8") as out:
            out.write(page)
    rows = ROW.findall(page)
    lessons = sorted(name for name in os.listdir(os.path.join(ROOT, FOLDER)) if re.match(r"\d.*\.md$", name))
    wrong = [] if [name for name, _ in rows] == lessons else [f"{FOLDER}/README.md lists {rows}, there are {lessons}"]
    for name, told in rows:
        wrong += lesson_problems(name, read(f"{FOLDER}/{name}"), told)
    assert len(lesson_problems("x", "one\n", "9")) == 2
    assert len(lesson_problems("x", "![a b](figures/x.svg)\n", "0")) == 3
    print("\n".join(wrong) or f"{len(lessons)} lessons, {sum(int(told) for _, told in rows)} minutes")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
