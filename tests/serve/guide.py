#!/usr/bin/env python3
"""guide.py MWLVM: the examples of tools/SERVE.md, in their order, in one shell's folder. `...` in an expected line stands for
any text. The server listens to a free port instead of its usual one."""
import os
import re
import shutil
import subprocess
import sys

from server import MWLVM, ROOT, Case, main


def examples():
    with open(os.path.join(ROOT, "tools", "SERVE.md")) as f:
        block = []
        for line in f:
            if not line.startswith("    "):
                yield from block
                block = []
            elif line.startswith("    $ "):
                block.append((line[6:].rstrip("\n"), []))
            elif block:
                block[-1][1].append(line[4:].rstrip("\n"))
        yield from block


def same(wanted, got):
    wanted = wanted.replace("127.0.0.1:7441", "...")
    return re.fullmatch(".*".join(re.escape(part) for part in wanted.split("...")), got) is not None


class Guide(Case):
    def test_the_examples(self):
        if not shutil.which("curl"):
            self.skipTest("there is no curl")
        os.symlink(os.path.join(ROOT, "tools"), self.path("tools"))
        with open(self.path("mwlvm"), "w") as f:
            f.write(f'#!/bin/sh\nexec {MWLVM} "$@"\n')
        os.chmod(self.path("mwlvm"), 0o755)
        env = {**os.environ, "PATH": self.folder.name + ":" + os.environ["PATH"]}
        n = 0
        for command, wanted in examples():
            n += 1
            if command.endswith(" &"):
                words = command.split()
                self.assertEqual(words[:4], ["mwlvm", "serve", "--store", "runs.db"])
                self.serve(*words[4:-1])
                with open(self.path("log")) as f:
                    got = f.read().splitlines()
            else:
                done = subprocess.run(["bash", "-c", command], cwd=self.folder.name, env=env, capture_output=True, text=True,
                                      timeout=100)
                got = (done.stdout + done.stderr).splitlines()
            self.assertEqual(len(got), len(wanted), f"{command}\n{got}")
            for one, two in zip(wanted, got):
                self.assertTrue(same(one, two), f"{command}\nexpected {one}\ngot      {two}")
        self.assertGreater(n, 10)

    def test_the_schedule(self):
        with open(os.path.join(ROOT, "tools", "SERVE.md")) as f:
            self.write("schedule.json", re.search(r"```json\n(.*?)```", f.read(), re.S)[1])
        self.serve("--schedule", "schedule.json")
        self.get("/readyz")


if __name__ == "__main__":
    main()
