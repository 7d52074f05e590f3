#!/usr/bin/env python3
"""build.py FSC OUT - a static site of the pages, with search and with live pages of `fsc viz` in the lessons.

In: docs/, the tool FSC (a built `fsc`). Out: OUT/html, to be looked at from disk or from any web server. Needs Sphinx,
Furo and MyST from PyPI; ./bootstrap site installs them in a folder of their own, and calls this.
Method: docs/ is staged in OUT/pages. A comment `<!-- fsc viz KERNEL WORDS... -->` of a lesson becomes a frame with the
page that `fsc viz` makes of it, in the place of the picture above it; kernels that the
lesson wrote with `cat >` before are there. What the README of each folder lists becomes the navigation. Links to files
beyond docs/ become plain text. Sphinx's warnings are errors.
Exit status: 0, 1 where something is wrong, 3 where Sphinx is missing.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.dirname(HERE)
FRAME = re.compile(r"(?:^!\[[^\]]*\]\([^)]*\)\n+)?^<!-- fsc viz (?P<words>.*?) -->$", re.M | re.S)
LISTING = re.compile(r"^\$ cat > (\S+) <<'EOF'\n(.*?)^EOF$", re.M | re.S)
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Site:
    def __init__(self, tool, out):
        self.tool, self.pages, self.html = os.path.abspath(tool), os.path.join(out, "pages"), os.path.join(out, "html")
        self.frames = 0

    def frame(self, page, listings, words):
        """The HTML of a frame; its page is made in the folder of static files."""
        self.frames += 1
        name = f"{os.path.basename(page)[:-3]}-{self.frames}.html"
        folder = os.path.join(self.pages, "_static", "kernels")
        for file, text in listings:
            write(os.path.join(folder, file), text)
        done = subprocess.run([self.tool, "viz", *shlex.split(words), "-o", name], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        if done.returncode:
            raise SystemExit(f"build.py: {page}: fsc viz {words}: {done.stdout}")
        up = "../" * page.count("/")
        return ("Play it: space starts and stops, the arrow keys go step by step.\n\n"
                f'<iframe class="kernel" loading="lazy" title="the kernel, step by step" '
                f'src="{up}_static/kernels/{name}"></iframe>')

    def links(self, page, text):
        """Links that stay within the site."""
        def one(match):
            label, target, anchor = match.group(1), match.group(2), match.group(3) or ""
            if "://" in target:
                return match.group(0)
            path = os.path.normpath(os.path.join(os.path.dirname(page), target))
            if path.startswith("..") or not os.path.exists(os.path.join(DOCS, path)):
                return label
            if os.path.isdir(os.path.join(DOCS, path)):
                target = os.path.join(target, "README.md")
            return f"[{label}]({target}{anchor})"
        return LINK.sub(one, text)

    def navigation(self, page, text):
        """What the README of a folder lists, in its order, as Sphinx's tree of contents: a tree for each heading."""
        if not page.endswith("README.md"):
            return ""
        trees, seen = [], set()
        for part in re.split(r"^(?=## )", text, flags=re.M):
            head = re.match(r"## (.*)", part)
            listed = []
            for _, target, _ in LINK.findall(part):
                path = os.path.normpath(os.path.join(os.path.dirname(page), target))
                if target.endswith(".md") and os.path.exists(os.path.join(DOCS, path)) and path not in seen:
                    seen.add(path)
                    listed.append(target)
            # a folder's list names the pages beside it, the first one also lists of other folders
            listed = [t for t in listed if page == "README.md" or "/" not in t]
            if listed:
                caption = f":caption: {head.group(1)}\n" if head and page == "README.md" else ""
                trees.append("```{toctree}\n:hidden:\n" + caption + "\n" + "\n".join(listed) + "\n```\n")
        return "\n" + "\n".join(trees)

    def stage(self, page):
        text = read(os.path.join(DOCS, page))
        text = FRAME.sub(lambda frame: self.frame(page, LISTING.findall(text[:frame.start()]), frame["words"]), text)
        text = re.sub(r"^```ir\b.*", "```text", text, flags=re.M)
        parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
        text = "".join(part if part.startswith("```") else self.links(page, part) for part in parts)
        name = "index.md" if page == "README.md" else page
        write(os.path.join(self.pages, name), text + self.navigation(page, text))

    def stage_all(self):
        shutil.rmtree(self.pages, ignore_errors=True)
        shutil.copytree(os.path.join(os.path.dirname(DOCS), "dsl_examples"),
                        os.path.join(self.pages, "_static", "kernels", "dsl_examples"))
        shutil.copy(os.path.join(HERE, "site.css"), os.path.join(self.pages, "_static"))
        shutil.copy(os.path.join(HERE, "conf.py"), self.pages)
        for folder, folders, files in os.walk(DOCS):
            folders[:] = sorted(name for name in folders if name != "site")
            for name in sorted(files):
                path = os.path.relpath(os.path.join(folder, name), DOCS)
                if name.endswith(".md"):
                    self.stage(path)
                else:
                    os.makedirs(os.path.dirname(os.path.join(self.pages, path)), exist_ok=True)
                    shutil.copy(os.path.join(DOCS, path), os.path.join(self.pages, path))

    def build(self):
        self.stage_all()
        done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", self.pages,
                               self.html], check=False)
        print(f"site: {self.frames} live pages, {os.path.join(self.html, 'index.html')}")
        return done.returncode


def main():
    if len(sys.argv) != 3:
        print("usage: build.py FSC OUT", file=sys.stderr)
        return 2
    try:
        import furo, myst_parser, sphinx  # noqa: F401, E401
    except ImportError as why:
        print(f"build.py: {why}: ./bootstrap site installs what this needs", file=sys.stderr)
        return 3
    return Site(sys.argv[1], sys.argv[2]).build()


if __name__ == "__main__":
    raise SystemExit(main())
