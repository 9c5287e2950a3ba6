#!/usr/bin/env python3
"""language.py MWLVM PAGE [--write]: runs every block of a tour, in its order, in one new folder.

    ```json NAME.json     is written to that file. If it is a definition it must be formatted and check without a warning;
                          a name that begins with wrong- is for a mistake that the text explains
    ```console            lines `$ COMMAND`, and below each what it prints (standard error behind standard output)

Any other fenced block is an error: a reader must be able to trust every block. --write writes what is printed into the
page; then read the difference.
"""
import os
import re
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
PAGE = sys.argv[2]
WRITE = "--write" in sys.argv
problems = []
counts = {"files": 0, "commands": 0}


def run(words, folder, shell=False):
    env = {**os.environ, "PATH": os.path.dirname(MWLVM) + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"}
    return subprocess.run(words, cwd=folder, shell=shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=env)


def file_block(line, name, body, folder):
    counts["files"] += 1
    path = os.path.join(folder, name)
    if WRITE and not name.startswith("wrong-"):
        body = subprocess.run([MWLVM, "fmt", "--stdin"], input=body, capture_output=True, text=True).stdout or body
    open(path, "w").write(body)
    if name.startswith("wrong-"):
        return body
    done = run([MWLVM, "fmt", "--check", name], folder)
    if done.returncode:
        problems.append(f"{PAGE}:{line}: {name} is not formatted: {done.stdout}")
    if "https://mwl.dev/" in body:
        done = run([MWLVM, "check", "--deny", "warnings", name], folder)
        if done.returncode:
            problems.append(f"{PAGE}:{line}: {done.stdout}")
    return body


def plain(text):
    """Wall-clock times differ."""
    return re.sub(r"\(\d+\.\d\d s\)", "(T s)", text.strip())


def console_block(line, body, folder):
    """The commands and what each must print; returns the block as it was seen."""
    seen, command, wanted = [], None, []
    lines = body.rstrip("\n").split("\n")
    at = 0
    while at <= len(lines):
        text = lines[at] if at < len(lines) else "$ "
        if text.startswith("$ "):
            if command:
                one_command(line, command, wanted, folder, seen)
            command, wanted = text[2:], []
            while command.endswith("\\"):
                at += 1
                command += "\n" + lines[at]
        else:
            wanted.append(text)
        at += 1
    return "\n".join(seen) + "\n"


def one_command(line, command, wanted, folder, seen):
    counts["commands"] += 1
    done = run(command, folder, shell=True)
    seen.append("$ " + command)
    if done.stdout.rstrip("\n"):
        seen.append(done.stdout.rstrip("\n"))
    if plain(done.stdout) != plain("\n".join(wanted)) and not WRITE:
        problems.append(f"{PAGE}:{line}: $ {command}\n--- printed\n{done.stdout}--- the page says\n" + "\n".join(wanted))


def main():
    text = open(PAGE).read()
    out, end = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block in re.finditer(r"^```([^\n]*)\n(.*?)^```$\n", text, re.M | re.S):
            kind, body = block.group(1), block.group(2)
            line = text.count("\n", 0, block.start()) + 1
            named = re.fullmatch(r"json ([\w.-]+\.json)", kind)
            if named:
                body = file_block(line, named.group(1), body, folder)
            elif kind == "console":
                body = console_block(line, body, folder)
            else:
                problems.append(f"{PAGE}:{line}: a block that is not run: ```{kind}")
            out += [text[end:block.start()], f"```{kind}\n{body}```\n"]
            end = block.end()
    if WRITE:
        open(PAGE, "w").write("".join(out) + text[end:])
    print("\n".join(problems))
    print(f"{counts['files']} files, {counts['commands']} commands; {len(problems)} problems")
    return 1 if problems or not counts["commands"] else 0


sys.exit(main())
