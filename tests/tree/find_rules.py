#!/usr/bin/env python3
"""find_rules.py: rules of the language are found by their words.

For each rule: words that a reader of the specification would search for, and the file that decides
the rule. What is searched are names (files, functions, enumerators, macros) and `spec:` comments;
not code and no other comments. Files are ranked by how many of the words they have, then by how
often. A rule is found when its file is among the first three. `find_rules.py -v` shows them all.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
LEAST = 36

RULES = [
    ("onAlways runs once", "onAlways once", "vm/machine/entry.c"),
    ("Gather completion", "gather completion", "vm/machine/gather.c"),
    ("full jitter", "jitter full", "stdlib/backoff.h"),
    ("duplicate member names", "duplicate member", "assembler/source/read.c"),
    ("$dynamicRef", "dynamic ref", "assembler/schema/schema_node.c"),
    ("code patterns", "failure matching", "vm/cel/failure.c"),
    ("the chain is cut at a depth", "chain depth", "vm/cel/failure.c"),
    ("no such overload", "no overload", "vm/cel/arith.c"),
    ("RFC 8785 text", "json canonical", "vm/value/json_write.c"),
    ("Flows do not call themselves", "flow cycle", "assembler/check/check_graph.c"),
    ("bare Raise", "bare raise", "vm/machine/step.c"),
    ("undeclared arguments", "arguments undeclared", "vm/machine/arguments.c"),
    ("the source of jitter", "random", "vm/base/random.c"),
    ("saturating addition of instants", "clock add", "vm/machine/clock.c"),
    ("names of types", "type name", "vm/value/value_lib.c"),
    ("fuel for cleanup", "reserve fuel", "vm/machine/run.c"),
    ("2^53 at the boundary", "representable numbers", "vm/cel/boundary.c"),
    ("text with two expressions is a literal", "expression literal", "assembler/check/check_expr.c"),
    ("e-mail format", "email format", "vm/schema/format.c"),
    ("execution.id", "run id", "vm/machine/run.c"),
    ("time zone files", "zone file", "vm/value/zone_file.c"),
    ("pump", "pump", "vm/machine/vm.c"),
    ("has()", "has presence", "vm/cel/access.c"),
    ("&& absorbs faults", "logic absorb", "vm/cel/compare.c"),
    ("getHours", "getHours", "vm/cel/cel_time.c"),
    ("defaults overlaid by arguments", "defaults overlaid", "vm/machine/frame.c"),
    ("unreachable Steps", "unreachable", "assembler/check/check_graph.c"),
    ("Sleep until", "sleep until", "vm/machine/step.c"),
    ("now() is pinned", "now clock pin", "vm/machine/context.c"),
    ("attachment level", "attachment", "assembler/check/check_call.c"),
    ("provider URI", "provider uri", "assembler/provider/catalog.c"),
    ("ISO 8601 durations", "iso duration", "vm/value/temporal_dur.c"),
    ("Loop carries", "loop carried", "vm/machine/reenter.h"),
    ("the bound's very instant", "timeout bound accepted", "vm/machine/ascend.c"),
    ("Retry restores variables", "retry variables", "vm/machine/reenter.h"),
    ("step.id", "step id", "vm/machine/context.c"),
    ("Gather concurrency", "concurrency", "vm/machine/gather.c"),
    ("wait: false", "completion wait", "vm/machine/gather.c"),
    ("fan-out limit", "fan-out limit", "vm/machine/gather.c"),
    ("JSON number range", "number range", "vm/value/json_nodes.c"),
]


def index():
    """Each file's names and `spec:` comments as one text, with compound names taken apart."""
    texts = {}
    for top in ("vm", "assembler", "stdlib"):
        for path, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if not name.endswith((".c", ".h")) or name == "diag_codes.h":
                    continue
                file = os.path.relpath(os.path.join(path, name), ROOT)
                source = open(os.path.join(ROOT, file)).read()
                found = [name]
                found += re.findall(r"^\w[^\n=;]*?\b(\w+)\(", source, re.M)
                found += re.findall(r"^\s+(MWL_\w+|[A-Z][A-Z_]+),", source, re.M)
                found += re.findall(r"^#define (\w+)", source, re.M)
                found += re.findall(r"^typedef \w+ (\w+)", source, re.M)
                found += re.findall(r'^\s*\{"(\w+)", \w+,', source, re.M)  # names of functions in a table
                found += re.findall(r"spec: ([^/]*?)(?:\*/|\n \*\n|$(?!\n))", source, re.S)
                words = re.sub(r"([a-z])([A-Z])", r"\1 \2", " ".join(found)) + " " + " ".join(found)
                texts[file] = re.sub(r"[_*\s`,.]+", " ", words).lower()
    return texts


def rank(texts, words):
    """The files that have the most of the words, most occurrences first."""
    scores = []
    for file, text in texts.items():
        counts = [len(re.findall(r"\b" + re.escape(w.lower()), text)) for w in words.split()]
        had = sum(1 for c in counts if c)
        if had:
            name = sum(1 for w in words.split() if w.lower() in os.path.basename(file))
            scores.append((-had, -name, -min(c for c in counts if c), -sum(counts), file))
    return [s[-1] for s in sorted(scores)]


def main(verbose):
    texts = index()
    found = 0
    for rule, words, file in RULES:
        ranked = rank(texts, words)
        at = ranked.index(file) + 1 if file in ranked else 0
        found += 1 if 0 < at <= 3 else 0
        if verbose or not 0 < at <= 3:
            print(f"{'ok  ' if 0 < at <= 3 else 'lost'} {rule} ({words}): {file} is {at} of {len(ranked)}: {ranked[:3]}")
    comments = sum(text.count("spec:") for text in
                   (open(os.path.join(ROOT, f)).read() for f in texts))
    print(f"{found} of {len(RULES)} rules found, at least {LEAST} wanted; {comments} spec: comments")
    return 0 if found >= LEAST else 1


sys.exit(main("-v" in sys.argv))
