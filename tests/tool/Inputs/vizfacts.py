"""The facts of a page of `fsc viz`, as NumPy arrays."""

import base64
import json
import re

import numpy as np

PACKS = {"i1": np.uint8, "ptr": np.float64, "i64": np.float64, "fp64": np.float64}


def offsets(text, count):
    raw = base64.b64decode(text)
    return np.frombuffer(raw, np.float64 if len(raw) == 8 * count else np.int32)


def pack_of(dtype):
    return PACKS.get(dtype, np.float32 if dtype.startswith(("fp", "bf")) else np.int32)


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.facts = json.loads(re.search(r'id="facts">(.*?)</script>', self.text, re.S).group(1))
        self.runs = self.facts["runs"]

    def code(self, run):
        return self.facts["codes"][run["code"]]

    def array(self, run, name):
        p = next(p for p in run["params"] if p["name"] == name)
        return np.frombuffer(base64.b64decode(p["data"]), pack_of(p["pack"])).reshape(p["shape"])

    def outline(self, run, program, name):
        """First byte, end and bytes of what it loads, then of what it stores."""
        n = len(run["params"])
        at = [p["name"] for p in run["params"]].index(name)
        return list(offsets(run["outlines"], run["outlined"] * n * 6).reshape(-1, n, 6)[program][at])

    def scalar(self, run, name):
        return next(p for p in run["params"] if p["name"] == name)["value"]

    def steps(self, run, program):
        """(op, {value: array}, exchanges) of each step."""
        code = self.code(run)
        ops = {op["op"]: op for op in code["ir"]}
        for step in program["steps"]:
            values = {}
            for value, text, *_ in step["v"]:
                fact = code["values"][str(value)]
                shape = fact.get("shape", [])
                data = np.frombuffer(base64.b64decode(text), pack_of(fact["type"]))
                values[value] = np.broadcast_to(data, np.prod(shape, dtype=int)).reshape(shape) if len(data) == 1 else data.reshape(shape)
            yield ops[step["o"]], values, step["e"]

    def results(self, run, program, kind):
        """What ops of this kind made, in order."""
        return [values[op["results"][0]] for op, values, _ in self.steps(run, program) if op["kind"] == kind and op["results"] and op["results"][0] in values]
