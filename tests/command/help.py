#!/usr/bin/env python3
"""help.py MWLVM: the help of the command and of each subcommand.

The short one has what matters first, the long one everything; what is listed is accepted, and nothing else; lines fit
the terminal.
"""
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
GROUPS = ["Write", "Check", "Test", "Run", "Keep", "Look inside"]
MOST = 16  # options that the short help of a command has
BEFORE = {"--durable": "--store", "--allow": "--ignore", "--all": "--unfinished"}  # old names of options
WORK = tempfile.TemporaryDirectory()  # options are tried: nothing of the tree is in their reach
problems = []


def mwlvm(*words, columns=80):
    return subprocess.run([MWLVM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=WORK.name,
                          env={**os.environ, "COLUMNS": str(columns)})


def expect(what, is_so, shown=""):
    if not is_so:
        problems.append(f"{what}\n{shown}")


def commands_of(text):
    return re.findall(r"^  ([a-z]+)(?= |$)", text.partition(":\n\n")[2].partition("\n\n")[2], re.M)


def options_of(text):
    return re.findall(r"^  (--?[\w-]+)", text, re.M)


def check_main():
    short, whole, alone = mwlvm("--help"), mwlvm("help", "--all"), mwlvm()
    expect("`mwlvm` alone is the short help, and wrong usage", (alone.stdout, alone.returncode) == (short.stdout, 2))
    expect("-h, help and --help are one", mwlvm("-h").stdout == mwlvm("help").stdout == short.stdout)
    expect("--help --all is help --all", mwlvm("--help", "--all").stdout == whole.stdout)
    expect("the groups", re.findall(r"^([A-Z][\w ]*):$", short.stdout, re.M) == GROUPS, short.stdout)
    first, every = commands_of(short.stdout), commands_of(whole.stdout)
    expect("ten commands come first", len(first) == 10 and set(first) < set(every), first)
    return every


def check_command(name):
    short, whole = mwlvm(name, "-h"), mwlvm(name, "--help")
    expect(f"{name}: statuses", short.returncode == whole.returncode == 0)
    expect(f"help {name} is {name} --help", mwlvm("help", name).stdout == whole.stdout)
    few, every = options_of(short.stdout), options_of(whole.stdout)
    expect(f"{name} -h is short", len(few) <= MOST + 1 and few[-1] == "-h", short.stdout)
    expect(f"{name} -h has only what --help has", set(few) <= set(every))
    expect(f"{name}: an option is listed twice", len(set(every)) == len(every), every)
    more = re.search(r"has (\d+) more", re.sub(r"\s+", " ", short.stdout))
    expect(f"{name} -h says how many more there are", len(every) - len(few) == int(more.group(1) if more else 0), short.stdout)
    for option in every[:-1]:
        said = mwlvm(name, option).stderr if option != "--watch" else ""
        expect(f"{name} has {option} in its help, and refuses it", f"there is no option '{option}'" not in said, said)
    for before, now in BEFORE.items():
        known = f"there is no option '{before}'" not in mwlvm(name, before).stderr
        expect(f"{name}: {before} is the old name of {now}", known == (now in every or before in every))
    return set(every)


def check_width(name):
    """Words stand in columns; what is meant to be copied, and usage, stays as it is."""
    for columns in (40, 80, 120):
        text = mwlvm(*name, columns=columns).stdout
        expect(f"{name}: space at a line's end", not re.search(r" $", text, re.M), text)
        for line in text.splitlines():
            kept = re.match(r"  |usage:", line) and not re.match(r" {25}\S", line)
            word = not re.search(r"\S +\S", line)  # one that is longer than a line
            expect(f"{name} in {columns} columns: {line}", kept or word or len(line) <= min(columns, 100))


def check_terminal():
    """On a terminal its width counts, and not the variable."""
    import fcntl
    import termios
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 52, 0, 0))
    done = subprocess.Popen([MWLVM, "run", "-h"], stdout=follower, stdin=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "99"})
    os.close(follower)
    text = b""
    try:
        while more := os.read(leader, 4096):
            text += more
    except OSError:
        pass
    done.wait()
    os.close(leader)
    expect("the width of the terminal", text.decode().replace("\r", "") == mwlvm("run", "-h", columns=52).stdout, text.decode())


def check_meanings(options):
    for name, wrong in (("resume", ("--input", "--arg", "--args", "--id", "--seed", "--each", "--record", "--detach")),
                        ("run", ("--unfinished",))):
        expect(f"{name} lists what it does not take", not options[name] & set(wrong), options[name])
        for option in wrong:
            expect(f"{name} {option}", "there is no option" in mwlvm(name, option, "1").stderr)
    expect("runs are kept in one place", not any({"--durable"} & own for own in options.values()))
    stores = {name for name, own in options.items() if "--store" in own}
    expect("the commands of a store", {"run", "resume", "ps", "serve", "worker", "show"} <= stores or "ps" not in stores, stores)


every = check_main()
options = {name: check_command(name) for name in every}
if "--store" in options["ps"]:  # else this build has no durable runs
    check_meanings(options)
for name in every:
    check_width((name, "--help"))
    check_width((name, "-h"))
check_width(("--help",))
check_width(("help", "--all"))
check_terminal()
for problem in problems:
    print("FAIL", problem)
print(f"{len(every)} commands, {len(problems)} problems")
sys.exit(1 if problems else 0)
