"""calls.py - every example with the words of a call (bench/counters.txt), for `fsc run` and its kin,
and for `fsc info`."""
import math
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def cases():
    """{example: words}; {R} rows, {N} columns, {RN} their product, {T} the type."""
    with open(os.path.join(HERE, "..", "..", "bench", "counters.txt"), encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {name: words for name, *words in lines}


def arrays_of(words):
    """{parameter: (element type, extents)} of the words that say both."""
    found = {}
    for word in words:
        name, value = word.split("=", 1)
        array = re.fullmatch(r"(?:[^\[]*:)?(\w+)\[([\d,]+)\]", value)
        if array:
            found[name] = (array.group(1), [int(n) for n in array.group(2).split(",")])
    return found


def asked_words(tool, folder, source, words):
    """The call as `fsc info` takes it: its numbers, the types that its arrays decide, what is left out."""
    report, arrays, params = os.path.join(folder, "report"), arrays_of(words), []
    subprocess.run([tool, source, "--emit=report", "-o", report], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60)
    values = dict(w.split("=", 1) for w in words if re.fullmatch(r"\w+=-?\d*\.?\d+", w))
    with open(report, encoding="utf-8") as file:
        for line in file:
            kind, *rest = line.split()
            if kind == "param":
                params.append((rest[0], rest[1], []))
            elif kind == "dim":
                params[-1][2].append(line.split('"')[1])
    for _, name, dims in params:
        extents = arrays.get(name, ("", []))[1]
        for code, extent in zip(dims, extents if len(dims) == len(extents) else [math.prod(extents)] if extents
                                else []):
            if re.fullmatch(r"\$\d+", code) and params[int(code[1:])][0] == "scalar":
                values[params[int(code[1:])][1]] = str(extent)
    with open(source, encoding="utf-8") as file:
        text = file.read()
    types = {}
    for name, dtype in re.findall(r"(\w+): \*(?:const )?(\w+)\b", text):
        if re.search(rf"\b{dtype}: dtype", text) and name in arrays:
            types.setdefault(dtype, arrays[name][0])
    return [*(f"{name}={value}" for name, value in values.items()), *(f"-T{name}={d}" for name, d in types.items()),
            *(w for w in words if w.startswith("-D"))]
