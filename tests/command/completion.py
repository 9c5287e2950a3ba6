#!/usr/bin/env python3
"""completion.py MWLVM: the completion scripts in real shells, and the man page.

bash and zsh run on a terminal, and a key is pressed; fish is asked by `complete -C`. A shell that is not installed is
left out, with a line that says so. The man page is checked by mandoc or groff. What every command's --help shows must
be in the scripts and in the page.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

MWLVM = os.path.abspath(sys.argv[1])
problems = []
left_out = []


def mwlvm(*words):
    return subprocess.run([MWLVM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def expect(what, is_so, shown=""):
    if not is_so:
        problems.append(f"{what}\n{shown}")


# what is typed before the key, and what the line must then be (or offer)
LINES = [
    ("mwlvm expla", "mwlvm explain "),
    ("mwlvm explain unknown-st", "mwlvm explain unknown-step"),
    ("mwlvm run --virt", "mwlvm run --virtual-time "),
    ("mwlvm run one-fi", "mwlvm run one-file.json "),
    ("mwlvm run --trace-file one-fi", "mwlvm run --trace-file one-file.json "),
    ("mwlvm one-file.json --virt", "mwlvm one-file.json --virtual-time "),
    ("mwlvm graph --format mer", "mwlvm graph --format mermaid "),
    ("mwlvm check --format sar", "mwlvm check --format sarif "),
    ("mwlvm new pagi", "mwlvm new pagination "),
    ("mwlvm functions math.great", "mwlvm functions math.greatest "),
    ("mwlvm actions Gat", "mwlvm actions Gather "),
    ("mwlvm providers time", "mwlvm providers timeout "),
    ("mwlvm help deco", "mwlvm help decompile "),
]


class Terminal:
    """A shell on a terminal. The prompt is `>>> `."""

    def __init__(self, words, work, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(work)
            os.execvpe(words[0], words, env)
        self.seen = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait(self, condition, seconds=60):
        """Reads until the condition about what was seen holds. Returns whether it does."""
        end = time.monotonic() + seconds
        while not condition(self.seen):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                return False
            try:
                more = os.read(self.fd, 4096)
            except OSError:
                return condition(self.seen)
            self.seen += plain(more.decode(errors="replace"))
        return True

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def plain(text):
    """Without what steers a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|[\x07\r]", "", text)


def on_terminal(shell, words, setup, work):
    if not shutil.which(shell):
        left_out.append(shell)
        return
    env = dict(os.environ, TERM="dumb", PS1=">>> ", PATH=os.path.dirname(MWLVM) + ":" + os.environ["PATH"], HOME=work)
    terminal = Terminal(words, work, env)
    terminal.send(setup + "\n")
    expect(f"{shell} does not start", terminal.wait(lambda seen: "ready-42" in seen), terminal.seen)
    for typed, line in LINES:
        terminal.seen = ""
        terminal.send(typed + "\t")
        whole = re.sub(r"\s", "", line)
        expect(f"{shell}: {typed}", terminal.wait(lambda seen: whole in re.sub(r"\s", "", seen)), terminal.seen[-400:])
        terminal.send("\x15")  # forgets the line
    terminal.close()


def in_fish(work):
    if not shutil.which("fish"):
        left_out.append("fish")
        return
    script = os.path.join(work, "mwlvm.fish")
    open(script, "w").write(mwlvm("completion", "fish"))
    env = dict(os.environ, PATH=os.path.dirname(MWLVM) + ":" + os.environ["PATH"], HOME=work)
    asked = "".join(f"echo '== {typed}'; complete -C '{typed}'\n" for typed, _ in LINES)
    done = subprocess.run(["fish", "--no-config", "-c", f"cd {work}; source {script}\n{asked}"], capture_output=True,
                          text=True, env=env)
    answers = re.split(r"^== .*\n", done.stdout, flags=re.M)[1:]
    for (typed, line), answer in zip(LINES, answers):
        offered = [row.split("\t")[0] for row in answer.splitlines()]
        expect(f"fish: {typed}", line.split()[-1] in offered, answer + done.stderr)


def check_names():
    """Every option of every --help is in each script and in the man page."""
    page = subprocess.run(["sh", "-c", "sed 's/\\\\-/-/g'"], input=mwlvm("manual"), capture_output=True, text=True).stdout
    scripts = {shell: mwlvm("completion", shell) for shell in ("bash", "zsh", "fish")}
    commands = re.findall(r"^  (?!mwlvm)(\w+) ", mwlvm("help", "--all"), re.M)
    expect("the commands", len(commands) > 10 and "completion" in commands, commands)
    for command in commands:
        options = re.findall(r"^  (--?[\w-]+)", mwlvm(command, "--help"), re.M)
        part = re.search(r"^\.SS %s\n(.*?)(?=^\.S|\Z)" % command, page, re.M | re.S)
        expect(f"the man page has no {command}", part)
        for option in options:
            if option in ("-h", "--help"):
                continue
            expect(f"man: {command} {option}", part and f"\\fB{option}\\fR" in part.group(1))
            for shell, text in scripts.items():
                name = option.lstrip("-") if shell == "fish" else option
                expect(f"{shell}: {command} {option}", re.search(r"[ '*]%s\b" % re.escape(name), text))


def check_manual(work):
    page = os.path.join(work, "mwlvm.1")
    open(page, "w").write(mwlvm("manual"))
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-Tlint", page], capture_output=True, text=True)
        expect("mandoc -Tlint", done.stdout + done.stderr == "", done.stdout)
    elif shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True, text=True)
        expect("groff -ww", done.stderr == "", done.stderr)
    else:
        left_out.append("mandoc")


def main():
    with tempfile.TemporaryDirectory() as work:
        open(os.path.join(work, "one-file.json"), "w").close()
        check_names()
        check_manual(work)
        bash = os.path.join(work, "bash-completion")
        open(bash, "w").write(mwlvm("completion", "bash"))
        on_terminal("bash", ["bash", "--norc", "--noprofile", "-i"], f"source {bash}; echo ready-$((40 + 2))", work)
        zsh = os.path.join(work, "site")
        os.mkdir(zsh)
        open(os.path.join(zsh, "_mwlvm"), "w").write(mwlvm("completion", "zsh"))
        on_terminal("zsh", ["zsh", "-f", "-i"],
                    f"PS1='>>> '; fpath=({zsh} $fpath); autoload -U compinit; compinit -D -u; echo ready-$((40 + 2))", work)
        in_fish(work)
    print("\n".join(problems[:20]))
    print(f"{len(LINES)} lines{', not installed: ' + ' '.join(left_out) if left_out else ''}; {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
