"""prose.py - how long sentences of the pages are: at most MEAN words on average in each page, MOST in any sentence.

In: every .md file of the tree but docs/lab and the changelog, which are diaries. Out: each page or sentence beyond,
exit status 1 if there is one. Method: prose is what is left of a page without code blocks, tables, headings and
comments; an item of a list is a paragraph; `code` is one word; a sentence ends at a full stop, a question mark, an
exclamation mark, a colon or a semicolon behind which a space comes.
"""
# RUN: %python %s
import os
import re

MEAN, MOST = 20, 35
DIARIES = ("docs/lab/", "docs/changelog.md")
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def paragraphs(text):
    """The prose of a page: a list of strings."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    lines = ["" if re.match(r"\s*(#|\|)", line) else line for line in text.split("\n")]
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", "\n".join(lines))
    return [" ".join(block.split()) for block in blocks if block.strip()]


def sentences(text):
    """(words, sentence) of each sentence of the page."""
    found = []
    for paragraph in paragraphs(text):
        plain = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph))
        for sentence in re.split(r"(?<=[.!?:;])[*)]*\s+", plain):
            words = len(re.findall(r"[^\W_][\w'’.,·\-]*", sentence))
            if words:
                found.append((words, sentence))
    return found


def problems(path, text):
    found = sentences(text)
    out = [f"{path}: {words} words: {sentence}" for words, sentence in found if words > MOST]
    mean = sum(words for words, _ in found) / max(1, len(found))
    return out + ([f"{path}: {mean:.1f} words a sentence"] if mean > MEAN else [])


def self_test():
    long = " ".join(["word"] * (MOST + 1)) + "."
    right = "A `b c` d. E [f](g.md).\n\n| " + long + " |\n```\n" + long + "\n```\n- one\n- two\n"
    assert [n for n, _ in sentences(right)] == [3, 2, 1, 1], sentences(right)
    assert not problems("x", right)
    assert len(problems("x", "One. Two. " + long)) == 1
    assert len(problems("x", " ".join(["word"] * (MEAN + 1)) + ".")) == 1


def all_pages():
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name[0] != "." and name != "build")
        yield from (os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(files) if name.endswith(".md"))


def main():
    self_test()
    found, pages = [], [path for path in all_pages() if not path.startswith(DIARIES)]
    for path in pages:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            found += problems(path, file.read())
    print("\n".join(found + [f"{len(pages)} pages, {len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
