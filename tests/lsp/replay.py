#!/usr/bin/env python3
"""replay.py MWLVM LOG...: message logs of real clients, sent again over pipes.

A log has a message on each line: `> ` one of the client, `< ` one of the server, in the order in
which they were. The first line is `# ` and the words behind `mwlvm` that start the server. What the
server says must be the same, message by message. `$ROOT` is the folder of the project,
`$VERSION` the version of mwlvm. (`replay.py --record MWLVM LOG COMMAND...` makes a log:
it runs a client, whose last word is then a program that stands for mwlvm and writes down what passes.)
"""
import json
import os
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from client import Client

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    assert lines[0].startswith("# "), path
    return lines[0][2:].split(), lines[1:]


def version_of(mwlvm):
    return subprocess.run([mwlvm, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def replay(mwlvm, path):
    words, lines = lines_of(path)
    version = version_of(mwlvm)
    client = Client([mwlvm] + words, started=False)
    for number, line in enumerate(lines, 2):
        message = json.loads(line[2:].replace("$ROOT", ROOT).replace("$VERSION", version))
        if line.startswith("> "):
            client.send(message)
            continue
        got = client.read()
        if got != message:
            print(f"{path}:{number}: the server says\n{json.dumps(got)}\nand not\n{json.dumps(message)}")
            client.process.kill()
            return False
    client.process.stdin.close()
    status = client.process.wait(60)
    if status != 0:
        print(f"{path}: the exit status is {status}")
    return status == 0


def pass_on(source, target, mark, log, lock, version):
    """Moves messages from one pipe to the other and writes them down."""
    buffer = b""
    while True:
        data = os.read(source, 1 << 16)
        if not data:
            os.close(target)
            return
        buffer += data
        while True:
            head, found, rest = buffer.partition(b"\r\n\r\n")
            length = int(head.split(b":")[1].split(b"\r")[0]) if found else 0
            if not found or len(rest) < length:
                break
            buffer = rest[length:]
            with lock, open(log, "a", encoding="utf-8") as file:
                text = json.dumps(json.loads(rest[:length]), ensure_ascii=False).replace(ROOT, "$ROOT")
                file.write(mark + text.replace(f'"version": "{version}"', '"version": "$VERSION"') + "\n")
            os.write(target, head + b"\r\n\r\n" + rest[:length])


def stand_between(mwlvm, log, words):
    """The first session goes to LOG.log, the next ones to LOG-2.log and so on."""
    number = 1
    while os.path.exists(log):
        number += 1
        log = f"{log.removesuffix('.log').removesuffix(f'-{number - 1}')}-{number}.log"
    with open(log, "w", encoding="utf-8") as file:
        file.write("# " + " ".join(words) + "\n")
    server = subprocess.Popen([mwlvm] + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    shared = (log, threading.Lock(), version_of(mwlvm))
    threads = [threading.Thread(target=pass_on, args=(0, os.dup(server.stdin.fileno()), "> ", *shared), daemon=True),
               threading.Thread(target=pass_on, args=(server.stdout.fileno(), 1, "< ", *shared))]
    for thread in threads:
        thread.start()
    server.stdin.close()
    threads[1].join()
    os._exit(server.wait())


def record(mwlvm, log, command):
    with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as script:
        script.write(f'#!/bin/sh\nexec python3 "{os.path.abspath(__file__)}" --between "{os.path.abspath(mwlvm)}" '
                     f'"{os.path.abspath(log)}" "$@"\n')
    os.chmod(script.name, 0o755)
    status = subprocess.run(command + [script.name]).returncode
    os.unlink(script.name)
    return status


if sys.argv[1] == "--between":
    stand_between(sys.argv[2], sys.argv[3], sys.argv[4:])
elif sys.argv[1] == "--record":
    sys.exit(record(sys.argv[2], sys.argv[3], sys.argv[4:]))
else:
    good = [replay(sys.argv[1], path) for path in sys.argv[2:]]
    print(f"{len(good)} logs, {good.count(False)} failures")
    sys.exit(0 if good and all(good) else 1)
