# `fsc lsp` as an editor drives it: a scripted client, message by message, and what each answer must hold.
# RUN: %python %s fsc %t
import json
import os
import re
import subprocess
import sys

TOOL, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOURCE = '''# ä 𝄞
@jit
def twice(a):
    return a * 2


@kernel(grid=(n,), BLOCK=1024)
def k(y: *fp32[n, 1024], x: *fp32[n, 1024], n: i32, BLOCK: constexpr = 1024):
    cols = arange(0, BLOCK)
    v = load(x + program_id(0) * 1024 + cols)
    total = sum(v, axis=0)
    store(y + program_id(0) * 1024 + cols, twice(v) / total)
'''
URI = "file:///a%20folder/k.dsl"


class Client:
    def __init__(self, *options):
        self.process = subprocess.Popen([TOOL, "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id, self.notices = 0, []

    def send_bytes(self, data):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def send(self, **message):
        self.send_bytes(json.dumps(dict(jsonrpc="2.0", **message)).encode())

    def read(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            assert line, "the server has ended"
            if line == b"\r\n":
                return json.loads(self.process.stdout.read(length))
            length = int(re.match(rb"Content-Length: (\d+)\r\n$", line)[1])

    def answer(self):
        """The next answer; notices before it are kept."""
        while True:
            message = self.read()
            if "id" in message:
                return message
            self.notices.append(message)

    def ask(self, method, **params):
        self.id += 1
        self.send(id=self.id, method=method, params=params)
        message = self.answer()
        assert message["id"] == self.id and "error" not in message, message
        return message["result"]

    def at(self, method, text, needle, inside=0, **more):
        """A request about the place of `needle` in the text, `inside` characters further."""
        return self.ask("textDocument/" + method, textDocument={"uri": URI}, position=position(text, needle, inside),
                        **more)

    def open(self, text):
        self.send(method="textDocument/didOpen",
                  params={"textDocument": {"uri": URI, "languageId": "fsc", "version": 1, "text": text}})

    def change(self, text):
        self.send(method="textDocument/didChange",
                  params={"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": text}]})

    def diagnostics(self):
        while not self.notices:
            self.notices.append(self.read())
        message = self.notices.pop(0)
        assert message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == URI, message
        return message["params"]["diagnostics"]

    def end(self):
        assert self.ask("shutdown") is None
        self.send(method="exit")
        assert self.process.wait(10) == 0


def position(text, needle, inside=0):
    at = text.index(needle) + inside
    line = text.count("\n", 0, at)
    return {"line": line, "character": len(text[text.rfind("\n", 0, at) + 1:at].encode("utf-16-le")) // 2}


def part(text, r):
    """The text of a range."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    assert r["start"]["line"] == r["end"]["line"], r
    return lines[r["start"]["line"]][2 * r["start"]["character"]:2 * r["end"]["character"]].decode("utf-16-le")


c = Client("--arch=sm_90")
c.send(id=0, method="textDocument/hover", params={})
assert c.answer()["error"]["code"] == -32002
capabilities = c.ask("initialize", processId=None, rootUri=None, capabilities={})["capabilities"]
assert capabilities["hoverProvider"] and capabilities["inlayHintProvider"], capabilities
c.send(method="initialized", params={})

# Messages while typing: none; then one, with its places and its fix; then none again.
c.open(SOURCE)
assert c.diagnostics() == []
wrong = SOURCE.replace("twice(v) / total", "twicr(v) / total")
c.change(wrong)
(found,) = c.diagnostics()
assert found["code"] == "E0201" and found["severity"] == 1 and found["source"] == "fsc", found
assert found["message"] == "unknown name 'twicr'; did you mean 'twice'?" and part(wrong, found["range"]) == "twicr"
(action,) = c.ask("textDocument/codeAction", textDocument={"uri": URI}, range=found["range"],
                  context={"diagnostics": [found]})
(edit,) = action["edit"]["changes"][URI]
assert action["kind"] == "quickfix" and edit["newText"] == "twice" and part(wrong, edit["range"]) == "twicr", action
far = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
assert c.ask("textDocument/codeAction", textDocument={"uri": URI}, range=far, context={"diagnostics": []}) == []
meet = SOURCE.replace("/ total", "/ arange(0, 64)")
c.change(meet)
(found,) = c.diagnostics()
assert found["code"] == "E0313", found
related = {(part(meet, r["location"]["range"]), r["message"]) for r in found["relatedInformation"]}
assert ("arange(0, 64)", "tile<64xi32>") in related, related
# Behind characters of two units, and many changes at once: the last text counts.
c.change("broken(")
wide = SOURCE.replace("# ä 𝄞\n", "").replace("total = sum", "s = 'ä 𝄞'; total = sumn")
c.change(wide)
seen = c.diagnostics()
if seen[0]["code"] != "E0201":
    seen = c.diagnostics()
assert part(wide, seen[0]["range"]) == "sumn", seen
c.change(SOURCE)
assert c.diagnostics() == []

# Hover: type, shape, layout, bytes a lane; parameters; builtins; functions.
shown = c.at("hover", SOURCE, "v = load")["contents"]["value"]
assert "v: tile<1024xfp32>" in shown and "#layout<[1024] reg=" in shown, shown
elements, threads, each, size = map(int, re.search(r"(\d+) elements on (\d+) threads: (\d+) a lane, (\d+) bytes",
                                                   shown).groups())
assert elements == 1024 == threads * each and size == 4 * each, shown
assert "total: fp32" in c.at("hover", SOURCE, "total = sum")["contents"]["value"]
assert "BLOCK = 1024" in c.at("hover", SOURCE, "BLOCK)\n")["contents"]["value"]
assert "n: i32" in c.at("hover", SOURCE, "n: i32")["contents"]["value"]
shown = c.at("hover", SOURCE, "load(x")["contents"]["value"]
assert "load(pointer, mask=" in shown and "tile<1024xfp32>" in shown, shown
assert "twice(a)" in c.at("hover", SOURCE, "twice(v)")["contents"]["value"]
assert "tile<1024xfp32>" in c.at("hover", SOURCE, "/ total")["contents"]["value"]  # what the expression yields
assert c.at("hover", SOURCE, "# ä") is None
# The last values stay while there is an error.
c.change(wrong)
assert "v: tile<1024xfp32>" in c.at("hover", wrong, "v = load")["contents"]["value"]
c.change(SOURCE)

# Definitions.
for needle, inside, target in ("twice(v)", 0, "twice(a)"), ("cols, twice", 0, "cols = "), ("a * 2", 0, "a):"), \
        ("total)", 0, "total = "), ("x + program", 0, "x: *fp32[n, 1024], n"):
    place = c.at("definition", SOURCE, needle, inside)
    assert place["uri"] == URI and place["range"]["start"] == position(SOURCE, target), (needle, place)
assert c.at("definition", SOURCE, "load(x") is None

# Completion.
labels = {i["label"]: i for i in c.at("completion", SOURCE, "twice(v)", 2)}
assert {"twice", "cols", "total", "BLOCK", "load", "fp32", "for"} <= set(labels) and "a" not in labels, labels
assert labels["load"]["kind"] == 3 and labels["load"]["detail"].startswith("load(pointer"), labels["load"]
dotted = SOURCE.replace("twice(v) / total", "v. ")
c.change(dotted)
labels = {i["label"] for i in c.at("completion", dotted, "v. ", 2)}
assert {"to", "shape", "sum"} <= labels and "cols" not in labels, labels
c.change(SOURCE)

# Signatures.
help = c.at("signatureHelp", SOURCE, "axis=0")
label = help["signatures"][0]["label"]
begin, end = help["signatures"][0]["parameters"][1]["label"]
assert label.startswith("sum(input, axis=") and label[begin:end] == "axis=" and help["activeParameter"] == 1, help
assert c.at("signatureHelp", SOURCE, "twice(v)", 6)["signatures"][0]["label"] == "twice(a)"
assert c.at("signatureHelp", SOURCE, "cols = ") is None

# Vector widths at loads and stores.
everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
hints = c.ask("textDocument/inlayHint", textDocument={"uri": URI}, range=everything)
assert [h["label"] for h in hints] == ["16 bytes", "16 bytes"], hints
assert hints[0]["position"] == position(SOURCE, "load(x", 4) and hints[1]["position"] == position(SOURCE, "store(", 5)

# Formatting is `fsc fmt`.
c.change(SOURCE.replace("a * 2", "a*2  "))
(edit,) = c.ask("textDocument/formatting", textDocument={"uri": URI}, options={"tabSize": 4, "insertSpaces": True})
assert edit["newText"] == SOURCE, edit
c.change("def (")
assert c.ask("textDocument/formatting", textDocument={"uri": URI}, options={}) is None

# Several kernels: each is compiled, and what both say is said once.
two = SOURCE + SOURCE[SOURCE.index("@kernel"):].replace("def k(", "def other(").replace("twice(v)", "v + nope")
c.change(two.replace("a * 2", "a * 2 + nix"))
c.notices.clear()
assert c.ask("textDocument/codeAction", textDocument={"uri": URI}, range=everything, context={}) is not None
words = sorted(d["message"].split("\n")[0] for d in c.diagnostics())
assert words == ["unknown name 'nix'", "unknown name 'nope'; did you mean 'None'?"], words

# What is no request that it knows, no JSON, no file that is open.
c.send(id="seven", method="textDocument/rename", params={})
assert c.answer()["error"]["code"] == -32601
c.send_bytes(b'{"jsonrpc": "2.0", "id": 1, ')
message = c.answer()
assert message["error"]["code"] == -32700 and message["id"] is None, message
c.send(id=8, method="textDocument/hover", params={"textDocument": {"uri": "file:///no.dsl"}, "position": {}})
assert c.answer()["error"]["code"] == -32602
c.send(method="textDocument/didClose", params={"textDocument": {"uri": URI}})
c.end()

# A file that has had an error since it was opened: values up to the error, parameters, functions. Of two kernels each
# knows its own names, and the broken one those that it has had.
c = Client("--arch=sm_90")
c.ask("initialize", capabilities={})
broken = SOURCE.replace("twice(v) / total", "twicr(v) / total")
c.open(broken)
assert [d["code"] for d in c.diagnostics()] == ["E0201"]
assert c.at("hover", broken, "v = load")["contents"]["value"] == "```\nv: tile<1024xfp32>\n```"
assert "total: fp32" in c.at("hover", broken, "total = sum")["contents"]["value"]
assert "n: i32" in c.at("hover", broken, "n: i32")["contents"]["value"]
assert "BLOCK = 1024" in c.at("hover", broken, "BLOCK)\n")["contents"]["value"]
whole = SOURCE[SOURCE.index("@kernel"):].replace("def k(", "def other(").replace("fp32", "fp16")
both = broken + whole
c.change(both)
assert "v: tile<1024xfp32>\n```" in c.at("hover", both, "v = load")["contents"]["value"]
later = c.ask("textDocument/hover", textDocument={"uri": URI},
              position=position(both, whole, whole.index("v = load")))["contents"]["value"]
assert "v: tile<1024xfp16>\n1024 elements on" in later, later
c.end()

# Every example, and every cut of one: hover and hints at each line, no message about the whole ones.
c = Client()
c.ask("initialize", capabilities={})
examples = os.path.join(ROOT, "dsl_examples")
for name in sorted(os.listdir(examples)):
    if not name.endswith(".dsl"):
        continue
    with open(os.path.join(examples, name), encoding="utf-8") as file:
        text = file.read()
    c.open(text)
    errors = [d for d in c.diagnostics() if d["severity"] < 3]
    assert errors == [], (name, errors)
    hints = c.ask("textDocument/inlayHint", textDocument={"uri": URI}, range=everything)
    assert hints, name
with open(os.path.join(examples, "softmax.dsl"), encoding="utf-8") as file:
    text = file.read()
for at in range(0, len(text), 37):
    c.change(text[:at])
    c.ask("textDocument/completion", textDocument={"uri": URI}, position=position(text, "", at))
    c.ask("textDocument/hover", textDocument={"uri": URI}, position=position(text, "", at))
    c.ask("textDocument/signatureHelp", textDocument={"uri": URI}, position=position(text, "", at))
c.process.stdin.close()
assert c.process.wait(10) == 1, "an editor that goes without shutdown"
print("ok")
