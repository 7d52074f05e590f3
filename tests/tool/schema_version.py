# Every command that takes --json, and --diagnostics-format=json, prints objects that begin with the schema_version of
# their row in compiler/base/schema.def; docs/reference/stability.md lists the rows.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %examples
import json
import os
import re
import subprocess
import sys

TOOL, FOLDER, EXAMPLES = sys.argv[1:4]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOFTMAX, X, Y = os.path.join(EXAMPLES, "softmax.dsl"), "x=random:0:fp32[3,100]", "y=" + os.path.join(FOLDER, "y.npy")
ON_CPU = [SOFTMAX, X, Y, "--device=cpu", "--repeat=1", "--warmup=0"]

# How the row's command is called; it prints one object.
CALLS = {
    "fsc bench --json": ["bench", SOFTMAX, "--axis", "N=32", "x=random:0:fp32[3,N]", "--device=cpu", "--repeat=1"],
    "fsc cache list --json": ["cache", "list"],
    "fsc cache stat --json": ["cache", "stat"],
    "fsc devices --json": ["devices"],
    "fsc info --json": ["info", SOFTMAX, "--gpu=h200"],
    "fsc profile --json": ["profile", SOFTMAX, X, Y],
    "fsc run --json": ["run", *ON_CPU],
    "fsc run --coverage --json": ["run", "--coverage", *ON_CPU],
    "--diagnostics-format=json": [SOFTMAX, "-o", os.devnull, "--diagnostics-format=json"],
}


def objects(text):
    decoder, found = json.JSONDecoder(), []
    while text.strip():
        one, end = decoder.raw_decode(text.lstrip())
        found.append(one)
        text = text.lstrip()[end:]
    return found


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


rows = re.findall(r'^SCHEMA\((\w+), +(\d+), "(.*)"\)', read("compiler", "base", "schema.def"), re.M)
assert {what for _, _, what in rows} == set(CALLS), rows
letters = re.search(r"^OPTION\(JSON, .*NULL, +([A-Z |]+),", read("compiler", "tool",
                                                                 "options.def"), re.M)[1].split(" | ")
assert letters == list("RIDBKP"), "a command more that takes --json: give it a row and a call here"
for name, version, what in rows:
    words = CALLS[what] + ["--json"] * what.endswith(" --json")
    done = subprocess.run([TOOL, *words], text=True, capture_output=True,
                          env=dict(os.environ, FSC_CACHE_DIR=os.path.join(FOLDER, "cache")))
    assert done.returncode == 0, (what, done.stderr)
    found = objects(done.stderr if what.startswith("--") else done.stdout)
    assert len(found) == 1, (what, found)
    assert next(iter(found[0])) == "schema_version" and found[0]["schema_version"] == int(version), (what, found[0])
    assert "| `%s` | %s |" % (what, version) in read("docs", "reference", "stability.md"), what
