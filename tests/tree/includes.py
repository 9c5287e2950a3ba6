#!/usr/bin/env python3
"""includes.py: no source file includes a header of which it uses no name, and none twice. An include names the folder of
a header; public headers are included without it, as hosts do.

The names of a header are those that it declares itself; what it includes does not count. The file FILE.c
includes FILE.h without a question. Of the headers of C and POSIX those in SYSTEM are checked, by what they
are for. A header that is used for what it does, and not for a name, is included with a comment behind it.
"""
import collections
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TOPS = ("vm", "assembler", "stdlib", "tools", "tests", "bench")
SKIPPED = re.compile(r"tests/api/abi/|tests/utest/|tests/install/|tools/windows/include/|bench/peers/")  # copies, other projects' names, programs of their own
PUBLIC = ("vm", "assembler", "stdlib", "stdlib/io", "stdlib/durable")  # folders of public headers, which are included as hosts do
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">][ \t]*(/[*/])?', re.M)
SYSTEM = {
    "assert.h": r"assert\b|static_assert",
    "ctype.h": r"(is|to)(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)\b",
    "errno.h": r"errno\b|E[A-Z0-9]{3,}\b",
    "float.h": r"(DBL|FLT)_",
    "inttypes.h": r"PRI[a-z]|SCN[a-z]|u?int\w*_t\b|U?INT\w*_(MAX|MIN|C)\b",
    "limits.h": r"[A-Z]+_(MAX|MIN)\b|CHAR_BIT\b",
    "math.h": r"(pow|fabs|floor|ceil|isnan|isinf|isfinite|NAN|INFINITY|HUGE_VAL|fm\w+|l?l?round|trunc|sqrt|log\w*|exp\w*|"
              r"signbit|l?l?rint|nearbyint|ldexp|frexp|nextafter|modf|scalbn|copysign|sin|cos|M_\w+)\b",
    "setjmp.h": r"jmp_buf|setjmp|longjmp",
    "signal.h": r"SIG|sig|raise\b|kill\b",
    "stdarg.h": r"va_\w+\b",
    "stdatomic.h": r"atomic_|_Atomic|memory_order",
    "stdbool.h": r"(bool|true|false)\b",
    "stddef.h": r"(size_t|NULL|offsetof|ptrdiff_t|max_align_t|wchar_t)\b",
    "stdint.h": r"u?int\w*_t\b|U?INT\w*_(MAX|MIN|C)\b|SIZE_MAX\b",
    "stdio.h": r"(\w*printf|FILE|f(open|close|flush|read|write|puts?|putc|gets|getc|seeko?|tello?|error|eof|ileno|dopen|memopen)|"
               r"put\w*|get(c|char|line)\w*|std(out|err|in)|EOF|SEEK_\w+|remove|rename|perror|setv?buf|BUFSIZ|tmpfile|"
               r"open_memstream|popen|pclose|snprintf|sscanf|fscanf|clearerr|ungetc|L_tmpnam)\b",
    "stdlib.h": r"(malloc|free|realloc|reallocarray|calloc|aligned_alloc|abort|exit|qsort|bsearch|strto\w+|getenv|ato\w+|EXIT_\w+|"
                r"_Exit|mk[ds]?temp\w*|setenv|unsetenv|realpath|labs|llabs|abs|div|system|s?rand\w*|atexit|posix_\w+|putenv|NULL|size_t)\b",
    "string.h": r"(mem(cpy|set|cmp|move|chr|mem|rchr|pcpy)|str\w+|stpcpy)\b",
    "time.h": r"(time\w*|clock\w*|tm|\w*gmtime\w*|localtime\w*|strftime|nanosleep|CLOCK_\w+|mktime|tzset)\b",
}


def sources():
    for top in TOPS:
        for path, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                file = os.path.relpath(os.path.join(path, name), ROOT)
                if name.endswith((".c", ".h")) and not SKIPPED.match(file):
                    yield file


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


class Header:
    """What a header declares: names, members of structs, beginnings and ends of names that its macros paste together."""

    def __init__(self, text):
        text = without_comments(text)
        names = set(re.findall(r"^\s*#\s*(?:define|ifndef|ifdef|undef)\s+(\w+)", text, re.M))
        names.update(re.findall(r"\b(\w+)\s*\(", text), re.findall(r"\}\s*(\w+)\s*[;\[]", text))
        names.update(re.findall(r"\b(?:struct|enum|union)\s+(\w+)", text), re.findall(r"\(\s*\*\s*(\w+)\s*\)", text))
        names.update(re.findall(r"\btypedef[^;{]*?\b(\w+)\s*(?:\([^;]*\))?;", text))
        names.update(re.findall(r"\b([A-Z][A-Z0-9_]{2,})\b", text))
        names.update(re.findall(r"\bextern\b[^;({]*?\b(\w+)\s*(?:\[[^;]*)?;", text))
        self.names = names - {"if", "for", "while", "switch", "sizeof", "return", "defined", "NULL", "void", "const", "int", "char"}
        bodies = re.findall(r"\b(?:struct|union)\b[^;(){}]*\{(.*?)^\}", text, re.M | re.S)
        self.members = set(re.findall(r"\b(\w+)\s*(?:\[[^;\]]*\])*(?::\s*\d+)?\s*[;,]", " ".join(bodies)))
        self.members.update(re.findall(r"\(\s*\*\s*(\w+)\s*\)", " ".join(bodies)))
        self.pasted = [(a, b) for a, b in re.findall(r"(\w*)##\w+(?:##(\w+))?", text) if len(a) > 3]

    def used_by(self, words, members):
        return bool(self.names & words) or bool(self.members & members) or any(w.startswith(a) and w.endswith(b) for a, b in self.pasted for w in words)


def find(name, texts):
    """The path of an included file of ours: its name, or that of a public header. None: of a build, or of another project."""
    public = [f"{place}/{name}" for place in PUBLIC if name.startswith("mwl")]
    return next((path for path in [name, *public] if path in texts), None)


def check(file, texts, headers, folders, problems):
    text = texts[file]
    body = without_comments(INCLUDE.sub("", text))
    plain = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', body)
    words = set(re.findall(r"\w+", body))
    members = set(re.findall(r"(?:->|\.)\s*(\w+)", body))
    seen = set()
    for found in INCLUDE.finditer(text):
        quote, name, comment = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        own = find(name, texts) if quote == '"' else None
        if quote == '"' and not own and os.path.basename(name) in folders:
            problems.append(f"{file}:{line}: {name} without its folder ({', '.join(folders[os.path.basename(name)])})")
        if name in seen and not re.search(r"\bX\b|_X\b", texts.get(own, "X")):
            problems.append(f"{file}:{line}: {name} is included twice")
        seen.add(name)
        if comment:
            continue
        if own:
            stem = lambda path: os.path.splitext(os.path.basename(path))[0]
            if stem(own) != stem(file) and not headers[own].used_by(words, members):
                problems.append(f"{file}:{line}: no name of {name} is used")
        elif quote == "<" and name in SYSTEM and not re.search(r"\b(?:%s)" % SYSTEM[name], plain):
            problems.append(f"{file}:{line}: nothing of <{name}> is used")


def main():
    texts = {file: open(os.path.join(ROOT, file), errors="replace").read() for file in sources()}
    headers = {file: Header(text) for file, text in texts.items() if file.endswith(".h")}
    headers.update((file, Header(text)) for file, text in texts.items() if file.endswith(".c"))  # a .c that is included
    folders = collections.defaultdict(list)
    for file in texts:
        folders[os.path.basename(file)].append(os.path.dirname(file))
    problems = []
    for file in sorted(texts):
        check(file, texts, headers, folders, problems)
    print("\n".join(problems + [f"{len(texts)} files, {len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
