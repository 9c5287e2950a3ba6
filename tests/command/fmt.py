#!/usr/bin/env python3
"""fmt.py MWLVM FOLDER...: `mwlvm fmt`.

Over every definition and provider document in the folders: formatting twice is formatting once, no token is lost or
changed, and the program that is assembled is the same but for positions. Then the layout and the
command's behaviour by examples.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

MWLVM = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+', re.S)
problems = []


def mwlvm(*words, text=None):
    return subprocess.run([MWLVM, *words], input=text, capture_output=True)


def expect(what, is_so, shown=""):
    if not is_so:
        problems.append(f"{what}\n{shown}")


# ---- every definition ----------------------------------------------------------------------------

def definitions(folders):
    for folder in folders:
        for path, dirs, names in os.walk(os.path.join(ROOT, folder)):
            dirs.sort()
            for name in sorted(names):
                file = os.path.join(path, name)
                if name.endswith(".json") and b"https://mwl.dev/" in open(file, "rb").read(4096):
                    yield file


def same_data(a, b):
    """Equal JSON, also in the order of members inside data (assign, with, ...): only members of the language move."""
    return json.loads(a) == json.loads(b) and sorted(TOKEN.findall(a)) == sorted(TOKEN.findall(b))


def providers(file):
    """Documents in the case's folder, and those of tests/explore."""
    for folder in (os.path.join(os.path.dirname(file), "providers"), os.path.join(ROOT, "tests/explore/providers")):
        if os.path.isdir(folder) and ("explore" in file or "explore" not in folder):
            for name in sorted(os.listdir(folder)):
                yield from ("--provider", os.path.join(folder, name))


def program(file, given):
    """The listing of the program (sections, constants, tables, code) but for positions; None if it is refused."""
    done = mwlvm("dis", "--ignore", "warnings", *given, file)
    if done.returncode != 0:
        return None
    listing = re.sub(rb" *;? \| \d+:\d+ .*", b"", done.stdout)
    return re.sub(rb"; program of .*|;   (POSITIONS|SOURCE) .*", b"", listing)


def check(file, copy, refused):
    """Is it a program? None: it is not JSON."""
    before, after = open(file, "rb").read(), open(copy, "rb").read()
    if refused:
        expect(f"{file}: refused, and changed", before == after)
        return None
    expect(f"{file}: not the same data", same_data(before.decode(), after.decode()))
    expect(f"{file}: a line is too long", not any(long_line(line) for line in after.decode().split("\n")))
    if b"/flow/schema.json" not in before:
        return False
    given = list(providers(file))
    one = program(file, given)
    expect(f"{file}: not the same program", one == program(copy, given))
    return one is not None


def check_all(work):
    files = list(definitions(sys.argv[2:]))
    copies = [os.path.join(work, f"{i}.json") for i in range(len(files))]
    for file, copy in zip(files, copies):
        shutil.copyfile(file, copy)
    done = mwlvm("fmt", *copies)
    refused = set(re.findall(r"^error\[MWL01\d\d\].*?--> ([^:\n]+):", done.stderr.decode(errors="replace"), re.S | re.M))
    again = mwlvm("fmt", *copies)
    expect("formatted twice it is something else", b": formatted" not in again.stderr, again.stderr)
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda i: check(files[i], copies[i], copies[i] in refused), range(len(files))))
    return [outcomes.count(outcome) for outcome in (True, False, None)]


# ---- random documents ----------------------------------------------------------------------------

NAMES = ["$schema", "action", "assign", "call", "calls", "cases", "catch", "comment", "default", "flow", "flows", "input",
         "match", "middleware", "next", "onAlways", "onEntry", "output", "over", "provider", "result", "steps", "when",
         "with", "x", "\u00e4\u4e2d", 'q"\\/', ""]
SCALARS = [None, True, 0, -1.5e300, 12345678901234567890, "", "Call", "Gather", "{{ vars.x }}", "\u4e2d" * 40, "a\n\tb\x7f",
           "mwl:provider.middleware/mwl/finally/v1", "x" * 99]


def random_value(rng, depth):
    """Members of the language at places where they do not belong, of kinds that they do not have."""
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(SCALARS)
    if kind < 0.5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {name: random_value(rng, depth - 1) for name in rng.sample(NAMES, rng.randrange(8))}


def random_documents(work):
    rng = random.Random(19)
    files = [os.path.join(work, f"random-{i}.json") for i in range(300)]
    texts = []
    for file in files:
        value = random_value(rng, rng.randrange(1, 9))
        if isinstance(value, dict) and rng.random() < 0.7:
            value["$schema"] = FLOW
        texts.append(json.dumps(value, indent=rng.choice([None, 0, 7, "\t"]), ensure_ascii=rng.random() < 0.5))
        open(file, "w").write(texts[-1])
    done = mwlvm("fmt", *files)
    expect("random documents", done.returncode == 0, done.stderr)
    for file, before in zip(files, texts):
        after = open(file).read()
        expect(f"not the same data\n{before}", same_data(before, after), after)
        expect(f"a line is too long\n{before}", not any(map(long_line, after.split("\n"))), after)
    again = mwlvm("fmt", *files)
    expect("formatted twice, random documents are something else", b": formatted" not in again.stderr, again.stderr)


def long_line(line):
    """A line is longer than 100 columns only if it is one value, or the begin or end of one."""
    body = re.sub(r'^ *("(?:[^"\\]|\\.)*": )?', "", line).rstrip(",")
    return len(line) > 100 and not TOKEN.fullmatch(body) and body not in ("{", "[", "]", "}", "{}", "[]")


# ---- the layout, by examples ---------------------------------------------------------------------

FLOW = "https://mwl.dev/v0.1/flow/schema.json"
BEFORE = """{"steps":{"b":{"value":1.50e+2,"action":"Return"},"a":{"next":"b","x-mine":[1,2],"call":{"with":{"z":1,
"a":"\\u0041"},"provider":"mwl:provider.call/mwl/mock/v1"},"comment":"first","action":"Call","catch":[]}},
"entrypoint":"a","$schema":"%s"}""" % FLOW
AFTER = """{
  "$schema": "%s",
  "entrypoint": "a",
  "steps": {
    "b": { "action": "Return", "value": 1.50e+2 },
    "a": {
      "action": "Call",
      "comment": "first",
      "call": { "provider": "mwl:provider.call/mwl/mock/v1", "with": { "z": 1, "a": "\\u0041" } },
      "next": "b",
      "catch": [],
      "x-mine": [1, 2]
    }
  }
}
""" % FLOW


def examples(work):
    done = mwlvm("fmt", "--stdin", text=BEFORE.encode())
    expect("the layout", done.stdout.decode() == AFTER, done.stdout.decode())
    cleanup = '{"steps": {}, "middleware": [{"onAlways": {"with": {"call": {"with": {"value": 1, "a": 2}, "flow": "f"}}},' \
        ' "provider": "mwl:provider.middleware/mwl/finally/v1"}]}'
    made = mwlvm("fmt", "--stdin", text=cleanup.encode()).stdout.decode()
    expect("the call of a cleanup", '{ "call": { "flow": "f", "with": { "value": 1, "a": 2 } } }' in made, made)
    # exactly 100 columns are on one line, 101 are not; code points count, not bytes
    for letters, lines in ((81, 1), (82, 3)):
        made = mwlvm("fmt", "--stdin", text=('{"a": ["%s", 1, 2]}' % ("\u00e4" * letters)).encode()).stdout.decode()
        expect(f"{letters} letters", made.count("\n") == lines and (len(made) == 101) == (lines == 1), made)
    expect("a lone value", mwlvm("fmt", "--stdin", text=b" 1 ").stdout == b"1\n")
    file = os.path.join(work, "x.json")

    def written(text):
        open(file, "w").write(text)
        return text

    written(BEFORE)
    done = mwlvm("fmt", "--check", file)
    expect("--check", done.returncode == 1 and done.stdout.decode() == file + "\n", done)
    expect("--check changes nothing", open(file).read() == BEFORE)
    done = mwlvm("fmt", "--diff", file)
    expect("--diff", done.returncode == 0 and b'+  "entrypoint": "a",' in done.stdout, done)
    expect("--diff changes nothing", open(file).read() == BEFORE)
    os.chmod(file, 0o640)
    done = mwlvm("fmt", file)
    expect("in place", done.returncode == 0 and open(file).read() == AFTER, done)
    expect("the mode is kept", os.stat(file).st_mode & 0o777 == 0o640)
    stamp = os.stat(file).st_mtime_ns
    done = mwlvm("fmt", file)
    expect("what is formatted is not written", done.returncode == 0 and os.stat(file).st_mtime_ns == stamp, done)
    expect("--check of what is formatted", mwlvm("fmt", "--check", file).returncode == 0)
    for wrong in ('{"a": 1,}', '{"a": 1, "a": 2}', '{"a": 1} // why', ""):
        written(wrong)
        done = mwlvm("fmt", file)
        expect(f"wrong: {wrong}", done.returncode == 3 and b"error[MWL" in done.stderr, done)
        expect(f"wrong, and untouched: {wrong}", open(file).read() == wrong)
    good = os.path.join(work, "y.json")
    open(good, "w").write(BEFORE)
    done = mwlvm("fmt", file, good)
    expect("a wrong file does not stop the others", done.returncode == 3 and open(good).read() == AFTER, done)
    done = mwlvm("fmt", "--check", os.path.join(ROOT, "tools/examples"), os.path.join(ROOT, "tools/new"))
    expect("our own examples", done.returncode == 0, done.stdout.decode())
    expect("usage", mwlvm("fmt").returncode == 2 and mwlvm("fmt", "--stdin", "x").returncode == 2)
    expect("a missing file", mwlvm("fmt", os.path.join(work, "none.json")).returncode == 2)


def main():
    with tempfile.TemporaryDirectory() as work:
        examples(work)
        random_documents(work)
        programs, others, wrong = check_all(work)
    print("\n".join(problems[:20]))
    print(f"{programs} programs, {others} that are refused or are documents, {wrong} not JSON; "
          f"{len(problems)} problems")
    return 1 if problems or programs < 400 else 0


sys.exit(main())
