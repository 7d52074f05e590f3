# --diagnostics-format: json and sarif say what the text says, are sound JSON whatever the source holds, and have what
# SARIF 2.1.0 requires.
# RUN: %python %s fsc %t.dsl
import json
import re
import subprocess
import sys

TOOL, PATH = sys.argv[1:3]
SOURCE = b'''@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    "\xc3\xa4\xc3\xb6"; a = lod(x)
    store(x, 1.0, maks=1)
    b = arange(0, 100)
    c = maximum(1, "a\\"b\\\\c")
'''
LEVELS = {"error", "warning", "note", "none"}
LINE = re.compile(r"^(?:(.*):(\d+):(\d+): |fsc: )?(error|warning|remark|note): (.*?)(?: \[([EWR]\d{4})\])?$")


def run(data, *options):
    with open(PATH, "wb") as file:
        file.write(data)
    done = subprocess.run([TOOL, PATH, "-o", "/dev/null", "--color=never", *options], capture_output=True, timeout=60)
    return done.returncode, done.stderr


def from_text(data, *options):
    """(severity, code, message, line, column) of every message of the text form, but for notes; the whole text"""
    found, whole = [], run(data, *options)[1].decode()
    for line in whole.splitlines():
        m = LINE.match(line)
        if m and m[4] != "note":
            found.append((m[4], m[6], m[5], int(m[2]) if m[2] else None, int(m[3]) if m[3] else None))
    return found, whole


def from_json(data, *options):
    status, text = run(data, "--diagnostics-format=json", *options)
    whole, found = json.loads(text), []
    for d in whole["diagnostics"]:
        for m in [d] + d["notes"]:
            found.append((m["severity"], m.get("code"), m["message"], m.get("line"), m.get("column")))
            assert "line" not in m or (m["end_line"], m["end_column"]) >= (m["line"], m["column"]), m
            assert "line" not in m or m["file"] == PATH, m
    assert whole["errors"] == sum(d["severity"] == "error" for d in whole["diagnostics"]) + whole["hidden"], whole
    assert (status != 0) == (whole["errors"] > 0), status
    return found


def from_sarif(data, *options):
    log = json.loads(run(data, "--diagnostics-format=sarif", *options)[1])
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json") and len(log["runs"]) == 1
    driver = log["runs"][0]["tool"]["driver"]
    rules = [rule["id"] for rule in driver["rules"]]
    assert driver["name"] == "fsc" and len(rules) == len(set(rules)), rules
    assert log["runs"][0]["columnKind"] == "unicodeCodePoints"
    found = []
    for result in log["runs"][0]["results"]:
        assert result["level"] in LEVELS and result["ruleId"] in rules, result
        assert len(result["locations"]) <= 1, result
        related = result["relatedLocations"]
        assert [r["id"] for r in related] == list(range(1, len(related) + 1)), related
        for at in result["locations"] + related:
            place = at.get("physicalLocation")
            if place:
                region = place["region"]
                assert place["artifactLocation"]["uri"] == PATH, place
                assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"]) >= (1,
                                                                                                                    1)
        first = result["locations"][0]["physicalLocation"]["region"] if result["locations"] else {}
        found.append((result["level"], result["ruleId"], result["message"]["text"], first.get("startLine"),
                      first.get("startColumn")))
        found += [("note", None, r["message"]["text"]) for r in related]
    return found


def fixed(data, fixes):
    """The source with each (line, column, end line, end column, text) made, columns in bytes."""
    lines = data.split(b"\n")
    for line, column, end_line, end_column, text in sorted(fixes, reverse=True):
        assert line == end_line, fixes
        lines[line - 1] = lines[line - 1][:column - 1] + text.encode() + lines[line - 1][end_column - 1:]
    return b"\n".join(lines)


(text, whole), found = from_text(SOURCE), from_json(SOURCE)
assert len(text) >= 4 and text == [m for m in found if m[0] != "note"], (text, found)
notes = [m[2] for m in found if m[0] == "note"]
assert notes and all(note in whole for note in notes), (notes, whole)
sarif = from_sarif(SOURCE)
assert [m[:3] for m in found] == [m[:3] for m in sarif], (found, sarif)
# Fixes: JSON has them at the message, SARIF at the result; made by hand or by --fix they are the same text.
messages = [m for d in json.loads(run(SOURCE, "--diagnostics-format=json")[1])["diagnostics"] for m in [d] + d["notes"]]
fixes = [m["fix"] for m in messages if "fix" in m]
by_hand = fixed(SOURCE, [tuple(f[k] for k in ("line", "column", "end_line", "end_column", "text")) for f in fixes])
log = json.loads(run(SOURCE, "--diagnostics-format=sarif")[1])
changes = [c for r in log["runs"][0]["results"] for f in r.get("fixes", []) for c in f["artifactChanges"]]
assert [c["artifactLocation"]["uri"] for c in changes] == [PATH] * len(fixes), changes
inserted = [r["insertedContent"]["text"] for c in changes for r in c["replacements"]]
assert inserted == [f["text"] for f in fixes] == ["load", "mask"], (inserted, fixes)
status, said = run(SOURCE, "--fix")
with open(PATH, "rb") as file:
    assert file.read() == by_hand and b"a = load(x)" in by_hand and b"mask=1" in by_hand, by_hand
assert status == 1 and b": 2 fixes made" in said, said
# A column counts bytes in text and JSON, characters in SARIF.
unknown = [m for m in found if m[1] == "E0201"][0], [m for m in sarif if m[1] == "E0201"][0]
assert unknown[0][3:] == (3, 17) and unknown[1][3:] == (3, 15), unknown
# Quotes and backslashes; bytes that are no text; a message without a place; no message at all; hidden ones.
assert any('"' in m[2] and "\\" in m[2] for m in found), found
assert from_json(b"@kernel(grid=(1,))\ndef k():\n    a = 1 \xff\x01\n")
assert from_sarif(b"@kernel(grid=(1,))\ndef k():\n    a = 1 \xff\x01\n")
good = b"@kernel(grid=(1,))\ndef k(x: *fp32):\n    store(x, 1.0)\n"
for read in (from_json, from_sarif):
    assert [m[:2] for m in read(good, "--arch=sm_12")][0] == ("error", "E0601"), read(good, "--arch=sm_12")
    assert read(good) == [], read(good)
assert len([m for m in from_json(SOURCE, "--error-limit=1") if m[0] == "error"]) == 1
