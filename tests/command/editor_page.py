#!/usr/bin/env python3
"""editor_page.py MWLVM: the settings that tools/EDITOR.md shows, as far as they can be tried here.

JSON is parsed. The extension of VS Code runs in node, with small stand-ins for the editor's modules, and
what it starts is started. Lua and Lisp are read by luac, nvim or emacs where one of them is there. A real
Neovim shows the diagnostics of a wrong definition, if there is one. Every command that a block names must
answer `initialize`.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lsp"))
from client import Client

MWLVM = os.path.abspath(sys.argv[1])
PAGE = os.path.join(HERE, "../..", "tools", "EDITOR.md")
STANDS = {
    "vscode/index.js": """
exports.debug = { registerDebugAdapterDescriptorFactory: (type, factory) => {
  const made = factory.createDebugAdapterDescriptor();
  console.log(JSON.stringify({ type, command: made.command, args: made.args }));
  return { dispose() {} };
} };
exports.DebugAdapterExecutable = class { constructor(command, args) { Object.assign(this, { command, args }); } };
""",
    "vscode-languageclient/node.js": """
exports.LanguageClient = class {
  constructor(id, name, server, client) {
    console.log(JSON.stringify({ command: server.command, args: server.args, selector: client.documentSelector }));
  }
  start() { return Promise.resolve(); }
  stop() { return Promise.resolve(); }
};
""",
}
NEOVIM = """
if vim.lsp.start then
  dofile("BLOCK")
  vim.cmd("set filetype=json")
else -- before version 0.8
  vim.lsp.buf_attach_client(0, vim.lsp.start_client({ name = "mwlvm", cmd = { "mwlvm", "lsp" }, root_dir = "/" }))
end
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end)
for _, d in ipairs(vim.diagnostic.get(0)) do io.stdout:write(d.code or "", " ", d.lnum, "\\n") end
vim.cmd("qa!")
"""
WRONG = """{
  "$schema": "https://mwl.dev/v0.1/flow/schema.json",
  "entrypoint": "b",
  "steps": { "a": { "action": "Return" } }
}
"""
tried, left_out = [], []


def blocks():
    """Each block with the heading and the line above it."""
    heading = above = ""
    lines = []
    for line in open(PAGE, encoding="utf-8").read().split("\n") + ["end"]:
        if line.startswith("    ") or (lines and not line):
            lines.append(line[4:])
            continue
        if lines:
            yield heading, above, "\n".join(lines).rstrip() + "\n"
            lines = []
        if line.startswith("## "):
            heading = line[3:]
        if line:
            above = line


def answers(words):
    """Starts what a block names and says hello."""
    assert words[0] == "mwlvm", words
    client = Client([MWLVM] + words[1:], started=False)
    if words[1] == "lsp":
        assert client.request("initialize", {"capabilities": {}})["capabilities"]["hoverProvider"]
    else:
        client.send({"seq": 1, "type": "request", "command": "initialize", "arguments": {}})
        assert client.read()["body"]["supportsStepBack"]
    client.process.kill()
    client.process.wait()
    tried.append(" ".join(words))


def read_by(programs, suffix, text):
    """Lets the first of the programs that is there read the text."""
    for command in programs:
        if not shutil.which(command[0]):
            continue
        with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
            file.write(text)
            file.flush()
            run = subprocess.run([word.replace("FILE", file.name) for word in command], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        tried.append(f"{suffix} by {command[0]}")
        return
    left_out.append(f"{suffix}: none of {', '.join(c[0] for c in programs)} is here")


def run_extension(text):
    if not shutil.which("node"):
        left_out.append("extension.js: node is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, content in STANDS.items():
            path = os.path.join(folder, "node_modules", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w", encoding="utf-8").write(content)
        open(os.path.join(folder, "extension.js"), "w", encoding="utf-8").write(text)
        script = ("const e = require('./extension.js'); Promise.resolve(e.activate({ subscriptions: [] }))"
                  ".then(() => e.deactivate());")
        run = subprocess.run(["node", "-e", script], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    started = [json.loads(line) for line in run.stdout.splitlines()]
    assert [s["args"] for s in started] == [["dap"], ["lsp"]], started
    for one in started:
        answers([one["command"]] + one["args"])


def run_neovim(block):
    """A definition with a mistake, in the editor itself."""
    if not shutil.which("nvim"):
        left_out.append("a session of Neovim: nvim is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("block.lua", "try.lua", "wrong.json")}
        for name, text in (("block.lua", block), ("try.lua", NEOVIM.replace("BLOCK", paths["block.lua"])),
                           ("wrong.json", WRONG)):
            open(paths[name], "w", encoding="utf-8").write(text)
        run = subprocess.run(["nvim", "--headless", "-u", "NONE", paths["wrong.json"], "-c", "luafile " + paths["try.lua"]],
                             capture_output=True, text=True, timeout=120,
                             env={**os.environ, "PATH": os.path.dirname(MWLVM) + os.pathsep + os.environ["PATH"],
                                  "HOME": folder})
    assert run.stdout == "MWL0301 2\n", run.stdout + run.stderr
    tried.append("a session of Neovim")


def main():
    kinds = set()
    for heading, above, text in blocks():
        if above.startswith("`package.json`"):
            contributes = json.loads(text)["contributes"]
            assert contributes["debuggers"][0]["type"] == "mwlvm"
            kinds.add("package")
        elif above.startswith("`extension.js`"):
            run_extension(text)
            kinds.add("extension")
        elif heading == "Neovim":
            read_by([["luac", "-p", "FILE"], ["luac5.4", "-p", "FILE"], ["nvim", "--headless", "-c", "luafile FILE", "-c", "q"]],
                    ".lua", text)
            for words in re.findall(r'cmd = \{ "(\w+)", "(\w+)" \}|command = "(\w+)", args = \{ "(\w+)" \}', text):
                answers([w for w in words if w])
            if "vim.lsp" in text:
                run_neovim(text)
            kinds.add("lua")
        elif heading == "Emacs":
            read_by([["emacs", "--batch", "--eval", '(with-temp-buffer (insert-file-contents "FILE") (check-parens))']],
                    ".el", text)
            assert text.count("(") == text.count(")"), text
            for words in re.findall(r'\("(\w+)" "(lsp)"\)|command "(\w+)" command-args \("(\w+)"\)', text):
                answers([w for w in words if w])
            kinds.add("lisp")
    assert kinds == {"package", "extension", "lua", "lisp"}, kinds
    print("tried:", "; ".join(tried))
    for line in left_out:
        print("left out:", line)


main()
