"""install_page.py - docs/how-to/install.md names what there is: Debian's packages are what bootstrap asks for, and
presets, targets, options and versions are those of the build.

tests/install.py installs the archive, and .ci/run begins on a bare Debian.
"""
# RUN: %python %s
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def packages(page):
    """Debian's column of the table of names."""
    rows = re.findall(r"^\| `([^`]*)` \| (?:the same|`)", page, re.M)
    return {name for row in rows for name in row.split()}


def wanted(bootstrap):
    """The packages of `needs`, with the version of LLVM in them; build-essential's parts stand for it."""
    body = re.search(r"^readonly needs=\(\n(.*?)^\)", bootstrap, re.M | re.S)[1]
    return {re.sub(r"\$\w+", "22", name) for name in re.findall(r"^ *['\"]([\w.+$-]+)", body, re.M)}


def main():
    page, bootstrap, cmake = read("docs", "how-to", "install.md"), read("bootstrap"), read("CMakeLists.txt")
    needs, told = wanted(bootstrap), packages(page)
    missing = sorted(needs - told)
    assert not missing, f"install.md does not name what bootstrap asks for: {missing}; it names {sorted(told)}"
    assert not told - needs, f"install.md names what bootstrap does not ask for: {sorted(told - needs)}"
    for preset in re.findall(r"cmake --preset (\w+)", page):
        assert f'"name": "{preset}"' in read("CMakePresets.json"), preset
    everything = cmake + read("compiler", "CMakeLists.txt") + read("runtime", "python", "CMakeLists.txt")
    for option in re.findall(r"-D(FSC_\w+)", page):
        assert re.search(rf"(option|set)\({option}\b", everything), option
    for target in re.findall(r"--target (\w+)", page):
        assert re.search(rf"add_custom_target\({target}\b", everything), target
    for command in re.findall(r"\./bootstrap (\w+)", page):
        assert re.search(rf"^ *(#   \./bootstrap )?{command}\b", bootstrap, re.M), command
    least = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", cmake)[1]
    assert f"| {least} |" in page, f"CMake {least}"
    print(f"{len(told)} packages")


main()
