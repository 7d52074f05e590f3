# The extension for VS Code: package.py makes the archive, its client drives `fsc lsp` under Node, and extension.js says
# to a stand-in for VS Code what the server says. And clients of somebody else's: Neovim's own, and pygls's, where they
# are.
# RUN: %python %s fsc %t
import json
import os
import shutil
import subprocess
import sys
import zipfile

TOOL, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
EDITORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "editors")
SOURCE = "@kernel(grid=(1,))\ndef k(x: *fp32[1024]):\n    v = load(x + arange(0, 1024))\n    store(x, lod(x))\n"

shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
archive = os.path.join(FOLDER, "fsc.vsix")
subprocess.run([sys.executable, os.path.join(EDITORS, "package.py"), archive], check=True, stdout=subprocess.DEVNULL)
with zipfile.ZipFile(archive) as z:
    z.extractall(FOLDER)
with open(os.path.join(FOLDER, "extension", "package.json"), encoding="utf-8") as file:
    package = json.load(file)
named = [package["main"], *(g["path"] for g in package["contributes"]["grammars"]),
         *(g["configuration"] for g in package["contributes"]["languages"]), "./client.js"]
assert all(os.path.exists(os.path.join(FOLDER, "extension", name)) for name in named), named

PLAY = """
const Module = require("module"), { Range } = { Range: class { constructor(...n) { this.n = n; } } };
const made = { diagnostics: [], providers: {} }, document = { uri: { toString: () => "file:///k.dsl" },
    languageId: "fsc", version: 1, getText: () => %(source)s };
const pass = class { constructor(...all) { this.all = all; } };
const vscode = new Proxy({
    Range, Uri: { parse: (s) => s }, CodeActionKind: { QuickFix: "q" },
    WorkspaceEdit: class { set(uri, list) { this.list = list; } },
    window: { showErrorMessage: (s) => { console.log(s); process.exit(3); } },
    workspace: { textDocuments: [document], getConfiguration: () => ({ get: (n) => n === "path" ? %(tool)s : [] }),
        onDidOpenTextDocument: () => ({}), onDidChangeTextDocument: () => ({}), onDidCloseTextDocument: () => ({}) },
    languages: new Proxy({ createDiagnosticCollection: () => ({ set: (uri, l) => { made.diagnostics = l; } }) },
        { get: (o, n) => o[n] || ((selector, provider) => { made.providers[n] = provider; return {}; }) }),
}, { get: (o, n) => o[n] || pass });
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : load(name, ...rest);
const extension = require(%(extension)s);
(async () => {
    await extension.activate({ subscriptions: [] });
    const p = made.providers, at = { line: 2, character: 4 };
    const hover = await p.registerHoverProvider.provideHover(document, at);
    const hints = await p.registerInlayHintsProvider.provideInlayHints(document,
        { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } });
    const items = await p.registerCompletionItemProvider.provideCompletionItems(document, at);
    const where = await p.registerDefinitionProvider.provideDefinition(document, { line: 2, character: 13 });
    const help = await p.registerSignatureHelpProvider.provideSignatureHelp(document, { line: 2, character: 15 });
    const actions = await p.registerCodeActionsProvider.provideCodeActions(document,
        { start: { line: 3, character: 14 }, end: { line: 3, character: 14 } });
    const text = await p.registerDocumentFormattingEditProvider.provideDocumentFormattingEdits(document);
    console.log(JSON.stringify({ messages: made.diagnostics.map((d) => [d.code, ...d.all.slice(1)]), hover: hover,
        hints: hints.length, items: items.length, where: where.all, help: help.signatures[0].all[0],
        actions: actions.map((a) => a.edit.list[0].all[1]), text: text.length }));
    await extension.deactivate();
})();
"""
node = shutil.which("node")
if node:
    script = os.path.join(FOLDER, "play.js")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PLAY % {"source": json.dumps(SOURCE), "tool": json.dumps(TOOL),
                           "extension": json.dumps(os.path.join(FOLDER, "extension", "extension.js"))})
    done = subprocess.run([node, script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert [m[:2] for m in said["messages"]] == [["E0201", "unknown name 'lod'; did you mean 'load'?"]], said
    assert said["actions"] == ["load"] and said["help"].startswith("load(pointer") and said["text"] == 1, said
    assert said["items"] > 100 and said["where"][0] == "file:///k.dsl", said
else:
    print("no Node here: the extension was packed, and not played")

NEOVIM = """
local client = vim.lsp.start_client({ name = "fsc", cmd = { %(tool)s, "lsp" } })
vim.cmd("edit " .. %(file)s)
vim.lsp.buf_attach_client(0, client)
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20)
local function ask(method, line, character)
    local params = { textDocument = vim.lsp.util.make_text_document_params(0),
        position = { line = line, character = character },
        range = { start = { line = 0, character = 0 }, ["end"] = { line = 9, character = 0 } },
        context = { diagnostics = {} }, options = { tabSize = 4, insertSpaces = true } }
    local answers = vim.lsp.buf_request_sync(0, "textDocument/" .. method, params, 20000)
    return answers[client].result
end
local found = vim.diagnostic.get(0)[1]
local edits = ask("codeAction", 3, 30)[1].edit
local said = { message = found.message, line = found.lnum, items = #ask("completion", 2, 4),
    help = ask("signatureHelp", 2, 15).signatures[1].label }
vim.lsp.util.apply_workspace_edit(edits, "utf-16")
vim.wait(20000, function() return #vim.diagnostic.get(0) == 0 end, 20)
said.mended = vim.api.nvim_buf_get_lines(0, 3, 4, false)[1]
said.hover, said.hints = ask("hover", 2, 4).contents.value, #ask("inlayHint", 0, 0)
io.stdout:write(vim.fn.json_encode(said))
vim.lsp.stop_client(client)
vim.cmd("qa!")
"""
SLIP = SOURCE.replace("store(x, lod(x))", "store(x + arange(0, 1024), epx(v))")
neovim = shutil.which("nvim")
if neovim:
    script, file = os.path.join(FOLDER, "play.lua"), os.path.join(FOLDER, "k.dsl")
    with open(file, "w", encoding="utf-8") as out:
        out.write(SLIP)
    with open(script, "w", encoding="utf-8") as out:
        out.write(NEOVIM % {"tool": json.dumps(TOOL), "file": json.dumps(file)})
    done = subprocess.run([neovim, "--clean", "--headless", "-c", "luafile " + script, "-c", "qa!"], timeout=120,
                          capture_output=True, text=True, env={**os.environ, "HOME": FOLDER})
    said = json.loads(done.stdout or "{}")
    assert said.get("message") == "unknown name 'epx'; did you mean 'exp'?", done.stdout + done.stderr
    assert said["line"] == 3 and said["items"] > 100 and said["help"].startswith("load(pointer"), said
    assert said["mended"].endswith("exp(v))") and "tile<1024xfp32>" in said["hover"] and said["hints"] == 2, said
else:
    print("no Neovim here: its client did not talk to the server")

try:
    from lsprotocol import types
    from pygls.lsp.client import BaseLanguageClient
except ImportError:
    print("no pygls here: its client did not talk to the server")
    sys.exit(0)
import asyncio  # noqa: E402


async def play():
    client, found = BaseLanguageClient("test", "1"), []
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda p: found.append(p))
    await client.start_io(TOOL, "lsp")
    made = await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    assert made.capabilities.hover_provider and made.capabilities.text_document_sync
    client.initialized(types.InitializedParams())
    document = types.TextDocumentIdentifier(uri="file:///k.dsl")
    right = SOURCE.replace("store(x, lod(x))", "store(x + arange(0, 1024), v)")
    client.text_document_did_open(types.DidOpenTextDocumentParams(
        text_document=types.TextDocumentItem(uri="file:///k.dsl", language_id="fsc", version=1, text=right)))
    at = types.Position(line=2, character=4)
    hover = await client.text_document_hover_async(types.HoverParams(text_document=document, position=at))
    assert "tile<1024xfp32>" in hover.contents.value, hover
    assert found and not found[0].diagnostics, found
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(
        text_document=document, range=types.Range(start=types.Position(0, 0), end=types.Position(9, 0))))
    assert [h.label for h in hints] == ["16 bytes", "16 bytes"], hints
    items = await client.text_document_completion_async(types.CompletionParams(text_document=document, position=at))
    assert any(i.label == "load" for i in items)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


asyncio.run(asyncio.wait_for(play(), 60))
