"""example.py - the examples of builtins.md and language.md: what they say is compiled for sm_90, run, and compared.

A code block is a kernel's body, with functions marked @jit before it, or a whole file that begins with @kernel. Comments tell the rest:
  # x = fp32 [1, 2]          a tile x with these elements, or a scalar parameter
  # p -> fp32 [1, 2]         a pointer p to these elements; behind the code, what p then points to
  cumsum(x)  # = fp32 [1, 3] type, shape and elements of what the line computes; several of a tuple; `constexpr` of a constant
  flip(7)    # error E0323   the line does not compile; the code is all that is said of it
  # prints TEXT              with --device-debug the run prints this line, and then those of later comments
A number with four or more decimals is rounded to these; any other is exact.
"""
import ast
import os
import re
import subprocess

import numpy as np

GIVEN = re.compile(r"^# (\w+) (=|->) (\w+) (.+)$")
RESULT = re.compile(r"^(.*?\S) +# = (.+)$")
ERROR = re.compile(r"^(.*?\S) +# error (E\d{4})$")
ASSIGNMENT = re.compile(r"^([\w, ]+?) = (.+)$")
PART = re.compile(r'([a-z]\w*) (\[.*?\](?=, [a-z]|$)|-?[\w.+-]+|"[^"]*")')
NUMPY = {"i1": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
         "u32": np.uint32, "u64": np.uint64, "fp16": np.float16, "fp32": np.float32, "fp64": np.float64}


class Wrong(Exception):
    """What an example says is not so, or cannot be read."""


class Data:
    """A type and the numbers as they are written, of a shape."""

    def __init__(self, dtype, text):
        self.dtype = dtype
        words = ast.literal_eval(re.sub(r"[^\s,\[\]]+", lambda m: repr(m.group()), text))
        nested = np.array(words, dtype=object)
        self.shape, self.words = nested.shape, [str(w) for w in nested.ravel()]
        self.is_float = dtype.startswith(("fp", "bf"))

    def numbers(self):
        return [float(w) if self.is_float else int(w) for w in self.words]

    def wide(self):
        """As fp64, or as the bits of i64."""
        if self.is_float:
            return np.array(self.numbers(), np.float64)
        return np.array([n & (1 << 64) - 1 for n in self.numbers()], np.uint64).view(np.int64)

    def agrees(self, got):
        return all(self.agrees_with(w, g) for w, g in zip(self.words, got))

    def agrees_with(self, word, got):
        if not self.is_float:
            return int(word) & (1 << 64) - 1 == int(got) & (1 << 64) - 1
        want, decimals = float(word), re.fullmatch(r"-?\d+\.(\d{4,})(?:e([+-]?\d+))?", word)
        if decimals:
            return abs(got - want) <= 0.5001 * 10.0 ** (int(decimals[2] or 0) - len(decimals[1]))
        with np.errstate(over="ignore"):
            want = float(NUMPY.get(self.dtype, np.float64)(want))
        return got == want and np.signbit(got) == np.signbit(want) or np.isnan(got) and np.isnan(want)


class Example:
    """A block, taken apart: functions, given data, the body's lines with what they give."""

    def __init__(self, text):
        lines = text.rstrip("\n").split("\n")
        self.is_file = any(line.startswith("@kernel") for line in lines)
        self.text, self.functions = text, []
        at = next((i for i, line in enumerate(lines) if line.startswith("@jit")), None)
        if at is not None and not self.is_file:
            end = max(i for i, line in enumerate(lines) if line.startswith("def ")) + 1
            while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
                end += 1
            self.functions, lines = lines[at:end], lines[:at] + lines[end:]
        code = [i for i, line in enumerate(lines) if line and not line.startswith("# ")]
        first, last = (code[0], code[-1]) if code else (len(lines), len(lines))
        self.given, self.after = self.read_given(lines[:first]), self.read_given(lines[last:])
        self.prints = [m[1] for m in re.finditer(r"^# prints (.*)$", text, re.M)]
        self.body, self.results, self.errors = [], [], []
        for line in [] if self.is_file else lines:
            self.read_line(line)
        self.checks = len(self.results) + len(self.errors) + len(self.prints) + len(self.after)

    def read_given(self, lines):
        found = [GIVEN.match(line) for line in lines]
        return {m[1]: (m[2], Data(m[3], m[4])) for m in found if m}

    def read_line(self, line):
        result, error = RESULT.match(line), ERROR.match(line)
        if error:
            self.errors.append((len(self.body), error[1], error[2]))
        elif result:
            parts = [Data(*m.groups()) for m in PART.finditer(result[2])]
            if not parts or ", ".join(m.group() for m in PART.finditer(result[2])) != result[2]:
                raise Wrong(f"not data: {result[2]}")
            self.body += self.result_lines(result[1], parts)
        elif not line.startswith("# "):
            self.body.append(line)

    def result_lines(self, code, parts):
        """The line, and what keeps its values for the comparison."""
        indent, code = re.match(r"( *)(.*)", code).groups()
        assignment = ASSIGNMENT.match(code)
        code = assignment[2] if assignment else code
        if parts[0].dtype == "constexpr":
            name = assignment[1] if assignment else f"constant{len(self.body)}"
            shown = f'static_assert({name} == {parts[0].words[0]}, "another constant")'
            return [indent + f"{name} = {code}", indent + shown]
        first = len(self.results)
        names = assignment[1].split(", ") if assignment else [f"result{first + i}" for i in range(len(parts))]
        lines = [f"{', '.join(names)} = {code}"]
        for name, data in zip(names, parts):
            lines += self.keep(name, data)
            self.results.append((code, data))
        return [indent + line for line in lines]

    def keep(self, name, data):
        """The statements that store a value of this type and shape, as fp64 or i64."""
        same = [d for _, d in self.results if d.is_float == data.is_float]
        at, size = sum(len(d.words) for d in same), len(data.words)
        to, wide = ("out_f", "fp64") if data.is_float else ("out_i", "i64")
        yield f'static_assert({name}.dtype == {data.dtype}, "another type")'
        if data.shape:
            yield f'static_assert({name}.shape == ({"".join(f"{n}, " for n in data.shape)}), "another shape")'
            yield f"store({to} + {at} + arange(0, {size}), {name}.to({wide}).ravel())"
        else:
            yield f'static_assert({name}.numel == 1, "not a scalar")'
            yield f"store({to} + {at}, {name}.to({wide}))"

    # ---- Source and arguments ----------------------------------------------------------------------------------------

    def buffers(self):
        """(name, type, size) of those through which tiles come and go."""
        for name, given in (("in", True), ("out", False)):
            for letter, is_float, dtype in (("f", True, "fp64"), ("i", False, "i64")):
                tiles = [d for kind, d in self.given.values() if kind == "=" and d.shape]
                data = tiles if given else [d for _, d in self.results]
                size = sum(len(d.words) for d in data if d.is_float == is_float)
                if size:
                    yield f"{name}_{letter}", dtype, size

    def source(self, error=None):
        """The file; with `error`, one of self.errors, only what comes before it, and its line."""
        if self.is_file:
            return self.text
        parameters = [f"{name}: *{dtype}[{size}]" for name, dtype, size in self.buffers()]
        head, at = [], {"in_f": 0, "in_i": 0}
        for name, (kind, data) in self.given.items():
            if kind == "->" or not data.shape:
                pointer = f"*{data.dtype}[{len(data.words)}]"
                parameters.append(f"{name}: {pointer if kind == '->' else data.dtype}")
                continue
            place, size = "in_f" if data.is_float else "in_i", len(data.words)
            value = f"load({place} + {at[place]} + arange(0, {size}))"
            value += " != 0" if data.dtype == "i1" else f".to({data.dtype})"
            head.append(f"{name} = ({value}).reshape({', '.join(map(str, data.shape))})")
            at[place] += size
        body = self.body if error is None else self.body[:error[0]] + [error[1]]
        lines = self.functions + ["@kernel(grid=(1,))", f"def example({', '.join(parameters)}):", "    pass"]
        return "\n".join(lines + ["    " + line for line in head + body]) + "\n"

    def arguments(self, folder):
        """The words of `fsc run`, with files for what is given."""
        words = []
        for name, (kind, data) in self.given.items():
            if kind == "->":
                np.save(os.path.join(folder, f"{name}.npy"), np.array(data.numbers(), NUMPY[data.dtype]))
                words.append(f"{name}={name}.npy")
            elif not data.shape:
                words.append(f"{name}={data.words[0]}")
        words += [f"{name}={name}.npy" for name in self.after if name not in self.given]
        for name, dtype, size in [] if self.is_file else self.buffers():
            content = np.zeros(size, NUMPY[dtype])
            if name.startswith("in"):
                parts = [d.wide() for kind, d in self.given.values() if kind == "=" and d.shape]
                content = np.concatenate([d for d in parts if d.dtype == NUMPY[dtype]])
            np.save(os.path.join(folder, f"{name}.npy"), content)
            words.append(f"{name}={name}.npy")
        return words

    # ---- Judging -----------------------------------------------------------------------------------------------------

    def judge(self, tool, folder, device="cpu"):
        """Problems, as sentences."""
        path = os.path.join(folder, "example.dsl")

        def call(words, source):
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            return subprocess.run([tool] + words, cwd=folder, capture_output=True, text=True, timeout=120,
                                  env=dict(os.environ, NO_COLOR="1"))

        compiled = call(["example.dsl", "--arch=sm_90", "-o", os.devnull], self.source())
        said = re.search(r"(error|warning): ", compiled.stderr)
        if compiled.returncode or said:
            return [f"does not compile for sm_90:\n{compiled.stderr}"]
        wrong = []
        for error in self.errors:
            done = call(["example.dsl", "--arch=sm_90", "-o", os.devnull], self.source(error))
            codes = set(re.findall(r"\[(E\d{4})\]$", done.stderr, re.M))
            if codes != {error[2]}:
                wrong.append(f"`{error[1]}` is said to give {error[2]}, and gives {codes or 'no error'}\n{done.stderr}")
        if self.results or self.after or self.prints:
            words = ["--device-debug"] if self.prints else []
            words += ["run", "example.dsl", f"--device={device}", "--warmup=0", "--repeat=1"]
            words = words[1:] + words[:1] if self.prints else words
            done = call(words + self.arguments(folder), self.source())
            if done.returncode:
                return wrong + [f"does not run:\n{done.stderr}"]
            wrong += self.compare(folder, done.stdout + done.stderr)
        return wrong

    def compare(self, folder, printed):
        wrong = []
        for name, (_, data) in self.after.items():
            got = np.load(os.path.join(folder, f"{name}.npy")).ravel()
            wrong += [] if data.agrees(got) else [f"{name} then points to {got.tolist()}"]
        names = [name for name, _, _ in self.buffers() if name.startswith("out")]
        out = {name == "out_f": np.load(os.path.join(folder, f"{name}.npy")) for name in names}
        at = {True: 0, False: 0}
        for code, data in self.results:
            first, size = at[data.is_float], len(data.words)
            got = out[data.is_float][first:first + size]
            at[data.is_float] += size
            wrong += [] if data.agrees(got) else [f"`{code}` gives {got.tolist()}, not {data.words}"]
        lines = iter(printed.splitlines())
        wrong += [f"not printed, or not in this order: {text}" for text in self.prints if text not in lines]
        return wrong


def judge_block(tool, folder, text, device="cpu"):
    """(how many things were checked, problems) of one block."""
    try:
        example = Example(text)
        return example.checks, example.judge(tool, folder, device)
    except (Wrong, ValueError, SyntaxError, OSError, OverflowError, KeyError) as error:
        return 0, [f"cannot be read: {type(error).__name__}: {error}"]
