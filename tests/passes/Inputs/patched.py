"""patched.py FSC FILE…: what --print-changed prints, applied to the IR before a pass, is the IR behind it, lines without
the numbers of values; every pass whose dump differs so from the one before is there, and no other."""

import re
import subprocess
import sys


def parts(tool, file, option, word):
    text = subprocess.run([tool, file, "--arch=sm_90", option, "-o", "/dev/null"], capture_output=True, text=True,
                          check=True, timeout=60).stderr
    found = re.split(r"^\*\*\* IR %s After (\w+) on \w+ \*\*\*\n" % word, text, flags=re.M)
    return list(zip(found[1::2], found[2::2]))


def bare(lines):
    return [re.sub(r"%\d+\b", "%", line) for line in lines]


def check(tool, file):
    dumps, diffs = parts(tool, file, "--print-after=all", "Dump"), dict(parts(tool, file, "--print-changed", "Diff"))
    for (_, before), (name, after) in zip(dumps, dumps[1:]):
        if bare(before.splitlines()) != bare(after.splitlines()):
            assert name in diffs, (file, name)
        if name not in diffs:
            continue
        lines = diffs[name].splitlines()
        gone, come = (bare(line[1:] for line in lines if line[0] == mark) for mark in "-+")
        stay = list(bare(before.splitlines()))
        for line in gone:
            stay.remove(line)  # an error if it was not there
        assert sorted(stay + come) == sorted(bare(after.splitlines())), (file, name)
        now = {line[1:] for line in lines if line[0] in "+ "} - {"…"}
        assert now <= set(after.splitlines()), (file, name, now - set(after.splitlines()))
        assert {line[1:] for line in lines if line[0] == "-"} <= set(before.splitlines()), (file, name)


for path in sys.argv[2:]:
    check(sys.argv[1], path)
