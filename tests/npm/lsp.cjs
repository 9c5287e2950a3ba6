// lsp.cjs MWLVM: the language server as a client from npm sees it: the types and the framing of
// vscode-languageserver-protocol, which VS Code itself uses.
"use strict";
const assert = require("assert");
const { spawn } = require("child_process");
const p = require("vscode-languageserver-protocol/node");

const uri = "file:///order.json";
const text = `{
  "$schema": "https://mwl.dev/v0.1/flow/schema.json",
  "entrypoint": "begin",
  "steps": {
    "begin": { "action": "Pass", "assign": { "total": 1 }, "next": "emd" },
    "end": {"value": "{{ vars.total }}", "action": "Return"}
  }
}
`;

async function main() {
    const server = spawn(process.argv[2], ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise((done) => server.on("exit", done));
    const connection = p.createProtocolConnection(
        new p.StreamMessageReader(server.stdout), new p.StreamMessageWriter(server.stdin));
    const published = [];
    const waiting = [];
    connection.onNotification(p.PublishDiagnosticsNotification.type, (params) => {
        published.push(params);
        for (const wake of waiting.splice(0)) wake();
    });
    const diagnostics = async (version) => {
        for (;;) {
            const found = published.find((d) => d.version === version);
            if (found) return found.diagnostics;
            await new Promise((wake) => waiting.push(wake));
        }
    };
    connection.listen();
    const { capabilities } = await connection.sendRequest(p.InitializeRequest.type, {
        processId: process.pid, rootUri: null,
        capabilities: { general: { positionEncodings: [p.PositionEncodingKind.UTF16] } },
    });
    assert.strictEqual(capabilities.positionEncoding, "utf-16");
    assert.strictEqual(capabilities.textDocumentSync.change, p.TextDocumentSyncKind.Incremental);
    await connection.sendNotification(p.InitializedNotification.type, {});

    const textDocument = { uri };
    await connection.sendNotification(p.DidOpenTextDocumentNotification.type, {
        textDocument: { uri, languageId: "json", version: 1, text },
    });
    const [wrong] = await diagnostics(1);
    assert.strictEqual(wrong.code, "MWL0301");
    const [fix] = await connection.sendRequest(p.CodeActionRequest.type, {
        textDocument, range: wrong.range, context: { diagnostics: [wrong] },
    });
    assert.strictEqual(fix.kind, p.CodeActionKind.QuickFix);
    const [edit] = fix.edit.changes[uri];
    assert.strictEqual(edit.newText, '"end"');
    await connection.sendNotification(p.DidChangeTextDocumentNotification.type, {
        textDocument: { uri, version: 2 }, contentChanges: [{ range: edit.range, text: edit.newText }],
    });
    assert.deepStrictEqual(await diagnostics(2), []);

    const inNext = { line: 4, character: text.split("\n")[4].indexOf("emd") + 1 };
    const completion = await connection.sendRequest(p.CompletionRequest.type, { textDocument, position: inNext });
    assert.deepStrictEqual(completion.items.map((i) => i.label), ["begin", "end"]);
    const [definition] = await connection.sendRequest(p.DefinitionRequest.type, { textDocument, position: inNext });
    assert.strictEqual(definition.range.start.line, 5);
    const references = await connection.sendRequest(p.ReferencesRequest.type, {
        textDocument, position: inNext, context: { includeDeclaration: true } });
    assert.strictEqual(references.length, 2);
    const rename = await connection.sendRequest(p.RenameRequest.type, { textDocument, position: inNext, newName: "done" });
    assert.strictEqual(rename.changes[uri].length, 2);
    const hover = await connection.sendRequest(p.HoverRequest.type, { textDocument, position: { line: 2, character: 5 } });
    assert.match(hover.contents.value, /The Step that runs first/);
    const symbols = await connection.sendRequest(p.DocumentSymbolRequest.type, { textDocument });
    assert.deepStrictEqual(symbols.map((s) => s.name), ["begin", "end"]);
    const formatted = await connection.sendRequest(p.DocumentFormattingRequest.type, {
        textDocument, options: { tabSize: 8, insertSpaces: false } });
    assert.strictEqual(formatted.length, 1);
    await connection.sendRequest(p.ShutdownRequest.type);
    await connection.sendNotification(p.ExitNotification.type);
    assert.strictEqual(await ended, 0);
    connection.dispose();
    console.log("all checks hold");
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
