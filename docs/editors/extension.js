// extension.js - starts `fsc lsp` for .dsl files, and speaks its protocol without any package of npm's: VS Code's own
// API and Node's are enough for what the server offers.
//
// In: documents of VS Code. Out: messages, hovers, definitions, completion, signatures, hints, fixes, formatting.
const vscode = require("vscode");
const { Client } = require("./client");

const SELECTOR = { language: "fsc" };
let client;

const range = (r) => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
const at = (document, position) => ({ textDocument: { uri: document.uri.toString() }, position });
const edits = (list) => (list || []).map((e) => new vscode.TextEdit(range(e.range), e.newText));

function diagnostics(collection, params) {
    const uri = vscode.Uri.parse(params.uri);
    collection.set(uri, params.diagnostics.map((d) => {
        const made = new vscode.Diagnostic(range(d.range), d.message, d.severity - 1);
        made.code = d.code;
        made.source = d.source;
        made.relatedInformation = d.relatedInformation.map((r) => new vscode.DiagnosticRelatedInformation(
            new vscode.Location(vscode.Uri.parse(r.location.uri), range(r.location.range)), r.message));
        return made;
    }));
}

function watch(context) {
    const open = (document) => document.languageId === "fsc" && client.notify("textDocument/didOpen", {
        textDocument: { uri: document.uri.toString(), languageId: "fsc", version: 1, text: document.getText() } });
    vscode.workspace.textDocuments.forEach(open);
    context.subscriptions.push(vscode.workspace.onDidOpenTextDocument(open),
        vscode.workspace.onDidChangeTextDocument((e) => e.document.languageId === "fsc" &&
            client.notify("textDocument/didChange", {
                textDocument: { uri: e.document.uri.toString(), version: e.document.version },
                contentChanges: [{ text: e.document.getText() }] })),
        vscode.workspace.onDidCloseTextDocument((document) => document.languageId === "fsc" &&
            client.notify("textDocument/didClose", { textDocument: { uri: document.uri.toString() } })));
}

function register(context) {
    const l = vscode.languages, ask = (method, params) => client.request("textDocument/" + method, params);
    context.subscriptions.push(
        l.registerHoverProvider(SELECTOR, { provideHover: async (d, p) => {
            const h = await ask("hover", at(d, p));
            return h && new vscode.Hover(new vscode.MarkdownString(h.contents.value), range(h.range));
        } }),
        l.registerDefinitionProvider(SELECTOR, { provideDefinition: async (d, p) => {
            const place = await ask("definition", at(d, p));
            return place && new vscode.Location(vscode.Uri.parse(place.uri), range(place.range));
        } }),
        l.registerCompletionItemProvider(SELECTOR, { provideCompletionItems: async (d, p) =>
            (await ask("completion", at(d, p))).map((i) => {
                const item = new vscode.CompletionItem(i.label, i.kind - 1);
                item.detail = i.detail;
                return item;
            }) }, "."),
        l.registerSignatureHelpProvider(SELECTOR, { provideSignatureHelp: async (d, p) => {
            const help = await ask("signatureHelp", at(d, p));
            if (!help) return null;
            const made = new vscode.SignatureHelp();
            made.signatures = help.signatures.map((s) => {
                const info = new vscode.SignatureInformation(s.label);
                info.parameters = s.parameters.map((q) => new vscode.ParameterInformation(q.label));
                return info;
            });
            made.activeSignature = help.activeSignature;
            made.activeParameter = help.activeParameter;
            return made;
        } }, "(", ","),
        l.registerInlayHintsProvider(SELECTOR, { provideInlayHints: async (d, r) =>
            (await ask("inlayHint", { textDocument: { uri: d.uri.toString() }, range: r })).map((h) => {
                const hint = new vscode.InlayHint(new vscode.Position(h.position.line, h.position.character), h.label);
                hint.paddingLeft = h.paddingLeft;
                hint.tooltip = h.tooltip;
                return hint;
            }) }),
        l.registerDocumentFormattingEditProvider(SELECTOR, { provideDocumentFormattingEdits: async (d) =>
            edits(await ask("formatting", { textDocument: { uri: d.uri.toString() }, options: {} })) }),
        l.registerCodeActionsProvider(SELECTOR, { provideCodeActions: async (d, r) =>
            (await ask("codeAction", { textDocument: { uri: d.uri.toString() }, range: r, context: {} })).map((a) => {
                const action = new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix);
                action.edit = new vscode.WorkspaceEdit();
                for (const [uri, list] of Object.entries(a.edit.changes))
                    action.edit.set(vscode.Uri.parse(uri), edits(list));
                return action;
            }) }));
}

exports.activate = async function (context) {
    const settings = vscode.workspace.getConfiguration("fsc"), 
        collection = vscode.languages.createDiagnosticCollection("fsc");
    context.subscriptions.push(collection);
    client = new Client(settings.get("path"), ["lsp", ...settings.get("arguments")], (method, params) =>
        method === "textDocument/publishDiagnostics" && diagnostics(collection, params));
    client.onError = (why) => vscode.window.showErrorMessage(`fsc lsp: ${why}; the setting fsc.path names the tool`);
    await client.start();
    register(context);
    watch(context);
};

exports.deactivate = () => client && client.stop();
