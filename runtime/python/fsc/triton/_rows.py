"""_rows.py - tuning files, as `fsc tune` writes them, for @triton.autotune.

In: a file's text; a kernel's name, its keys' values, where it runs. Out: the row that holds, as words; a file with one
row more. A row is `n=1024 x=fp16: BLOCK=2048 num_warps=8`, in a section `kernel NAME on ARCH UNITS`; its keys are whole
numbers and types. docs/how-to/tuning.md has the format.
"""
import os
import re

HEAD = "fsc-tune 1\n"
_SECTION = re.compile(r"kernel\s+(\S+)\s+on\s+(\S+)\s+(\d+)")


class Row:
    """keys, choice: {name: text}; line: its number in the file."""

    def __init__(self, text, line):
        keys, _, choice = text.partition(":")
        self.keys, self.choice = ({name: value for name, _, value in (word.partition("=") for word in part.split())}
                                  for part in (keys, choice))
        self.line = line


def read(path):
    """[(kernel, arch, units, rows)] of a file; nothing of one that is not there or has another form."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, ValueError):
        return []
    sections = []
    for number, line in enumerate(lines if lines[0] + "\n" == HEAD else [], 1):
        line = line.partition("#")[0].strip()
        head = _SECTION.fullmatch(line)
        if head:
            sections.append((head.group(1), head.group(2), int(head.group(3)), []))
        elif sections and ":" in line:
            sections[-1][3].append(Row(line, number))
    return sections


def rows_of(path, kernel, where):
    """The rows of the section for this kernel and place, (arch, units): of several the nearest number of units."""
    fitting = [s for s in read(path) if s[:2] == (kernel, where[0])]
    return min(fitting, key=lambda s: abs(s[2] - where[1]))[3] if fitting else []


def _distance(wanted, value):
    """How far two sizes are from each other, by ratio."""
    try:
        value = int({"True": 1, "False": 0}.get(value, value))
    except ValueError:
        return None
    if wanted <= 0 or value <= 0:
        return abs(wanted - value)
    return max(wanted, value) / min(wanted, value) - 1


def nearest(rows, values):
    """Of the rows whose types are those of the values, the nearest, of the first key first; None: there is none."""
    for name in rows[0].keys if rows else ():
        value = values.get(name)
        if isinstance(value, str):
            rows = [r for r in rows if r.keys.get(name) == value]
            continue
        far = {r: _distance(int(value), r.keys.get(name, "")) for r in rows} if value is not None else {}
        known = [d for d in far.values() if d is not None]
        rows = [r for r in rows if known and far[r] == min(known)]
    return rows[-1] if rows else None


def exact(rows, values):
    """The row of just these values; None: there is none."""
    wanted = {name: str(value if isinstance(value, str) else int(value)) for name, value in values.items()}
    return next((r for r in reversed(rows) if r.keys == wanted), None)


def line_of(values, choice, note):
    words = " ".join(f"{name}={value if isinstance(value, str) else int(value)}" for name, value in values.items())
    return f"{words}: {' '.join(f'{name}={value}' for name, value in choice.items())}  # {note}\n"


def add(path, kernel, where, line):
    """The file with the line at the end of its section."""
    head = f"kernel {kernel} on {where[0]} {where[1]}"
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        text = ""
    text = text if text.startswith(HEAD) else HEAD
    lines = text.rstrip("\n").split("\n")
    at = next((i for i, old in enumerate(lines) if old.partition("#")[0].strip() == head), None)
    if at is None:
        lines += [head]
        at = len(lines) - 1
    end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("kernel ")), len(lines))
    lines.insert(end, line.rstrip("\n"))
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    part = f"{path}.{os.getpid()}"
    with open(part, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    os.replace(part, path)
