#!/usr/bin/env python3
"""program_format.py MWLVM: vm/program/FORMAT.md against the headers, and against programs.

The tables of the page are compared with the structures and lists of the headers. Then definitions
are assembled, and the programs decoded by those tables and OPCODES.md alone: constants, handlers,
instructions and their places must be those that `mwlvm dis` lists, and the packed form must have the
same sections. Checksums and hashes are not computed here.
"""
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
# a definition with constants of every kind
KINDS = r"""{"$schema":"https://mwl.dev/v0.1/flow/schema.json","entrypoint":"a","steps":{"a":{
"action":"Return","value":"{{ [type(step.input) == bytes, now() < timestamp('2024-05-06T07:08:09.5Z'),
now() - now() < duration('90s'), step.input == b'\\x01z', step.input == 7u, step.input == -0.25,
step.input == null, 'LONG' == step.input, step.input in {1: 'x', false: [2]}, step.input == -3,
step.input.matches('^a'), 3.0 == step.input] }}"}}}""".replace("\n", " ").replace("LONG", "0123456789" * 7)


def text_of(*path):
    return open(os.path.join(ROOT, "vm", *path), encoding="utf-8").read()


def tables(page):
    """The rows of the page's tables, as lists of cells, by the heading above them."""
    found, heading = {}, None
    for line in page.split("\n"):
        if line.startswith("#"):
            heading = line.strip("# ")
        elif line.startswith("|") and not set(line) <= set("|-: "):
            cells = [c.strip().strip("`*") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            found.setdefault(heading, []).append(cells)
    return found


PAGE, OPCODES = tables(text_of("program", "FORMAT.md")), tables(text_of("OPCODES.md"))
OPS = [row for heading, rows in OPCODES.items() if heading not in ("Operands", "Flags") for row in rows[1:]]
LETTER = {row[0]: row[1].rstrip("3") for row in OPCODES["Operands"]}
SECTIONS = {int(r[0]): (r[1], int(r[2])) for r in PAGE["Sections"][1:]}
KIND = {int(r[0]): r[1] for r in PAGE["CONSTS"] if r[0].isdigit() and len(r) == 3}


def layout(heading):
    """(offset, bytes, name) of the fields in the first table under a heading."""
    return [(int(r[0]), int(r[1]), r[2]) for r in PAGE.get(heading, []) if len(r) == 4 and r[0].isdigit()]


def size_of(heading):
    return sum(size for _, size, _ in layout(heading))


def record(heading, data, at=0):
    return {name: int.from_bytes(data[at + offset:at + offset + size], "little")
            for offset, size, name in layout(heading)}


def must(condition, what):
    if not condition:
        sys.exit("program_format.py: " + what)


# ---- the page and the headers -------------------------------------------------------------------

STRUCTS = {"STRINGS": "str", "CONSTS": "const_rec", "CODE": "ins", "PATHS": "path_rec",
           "SHAPES": "shape_rec", "FUNCS": "func_rec", "HANDLERS": "handler_rec",
           "IMPORTS": "import_rec", "FLOWS": "flow_rec", "STEPS": "step_rec", "ENTRIES": "entry_rec",
           "CALLS": "call_rec", "GATHERS": "gather_rec", "CATCHES": "catch_rec", "MATCHERS": "matcher_rec"}


def check_headers():
    image = text_of("program", "image.h")
    code = text_of("program", "program.h") + text_of("program", "tables.h") + text_of("program", "op.h")
    code = re.sub(r"/\*.*?\*/", "", code + text_of("value", "value.h") + text_of("mwl.h"), flags=re.S)
    for section, name in STRUCTS.items():
        fields, end = [], 0
        body = re.search(r"struct mwl__%s \{(.*?)\}" % name, code, re.S).group(1)
        for bits, names in re.findall(r"uint(\d+)_t\s+([^;]+);", body):
            for field in names.split(","):
                size = int(bits) // 8 * (4 if "[4]" in field else 1)
                fields.append((end, size, field.replace("[4]", "").strip()))
                end += size
        must(fields == layout(section), f"{section} is not as in mwl__{name}")
    found = {int(id): (name, int(size)) for name, id, size in re.findall(r"X\((\w+), (\d+), (\d+)\)", image)}
    must(found == SECTIONS, "the sections are not those of image.h")
    for name, size in SECTIONS.values():
        must(name == "STRINGS" or not layout(name) or size_of(name) == size, f"the size of {name}")
    bases = re.findall(r'X\(\w+, "([^"]+)"\)', text_of("program", "program.h"))
    must([r[1] for r in PAGE["PATHS"] if r[0].isdigit() and len(r) == 2] == bases, "the bases of paths")
    for bit, name in [r[:2] for r in PAGE["Flags"][1:]]:
        must(re.search(name + r" = (\w+)", code).group(1) in (bit, str(int(bit, 16))), name)
    for number, name in KIND.items():
        must(f"MWL_KIND_{name} = {number}" in code, f"kind {name}")
    for word, name in [r[:2] for r in PAGE["INFO"][1:]]:
        must(f"MWL_INFO_{name} = {word}" in code, f"INFO's {name}")
    number = re.search(r"IMAGE_FORMAT (\d+)u", image).group(1)
    must(PAGE["Header"][2][3].startswith(number + ";"), "the format's number")


# ---- images -------------------------------------------------------------------------------------

def open_image(data):
    head, row_size, sections = record("Header", data), size_of("Directory row"), {}
    must(data[:4] == b"MWLB" and head["flags"] == 0 and head["size"] == len(data), "the header")
    end = size_of("Header") + head["sections"] * row_size
    for i in range(head["sections"]):
        row = record("Directory row", data, size_of("Header") + i * row_size)
        must(row["offset"] == end and row["reserved"] == 0, f"row {i} of the directory")
        end += (row["size"] + 7) // 8 * 8
        must(not any(data[row["offset"] + row["size"]:end]), "padding")
        sections[SECTIONS[row["id"]][0]] = data[row["offset"]:row["offset"] + row["size"]]
    must(end == len(data), "the end")
    return sections


def records(sections, name):
    data = sections.get(name, b"")
    return [record(name, data, at) for at in range(0, len(data), size_of(name))]


def words(data):
    return struct.unpack(f"<{len(data) // 4}I", data)


def constants(sections):
    """The constants as listings write them; None where that takes more than a line."""
    out, trees = [], words(sections.get("TREES", b""))
    for rec in records(sections, "CONSTS"):
        kind, p, raw = KIND[rec["kind"]], rec["payload"], struct.pack("<Q", rec["payload"])
        signed, number, text = struct.unpack("<q", raw)[0], struct.unpack("<d", raw)[0], b""
        if kind in ("STRING", "BYTES", "TYPE"):
            begin = p + size_of("STRINGS")
            text = sections["STRINGS"][begin:begin + record("STRINGS", sections["STRINGS"], p)["len"]]
        if kind in ("ARRAY", "OBJECT"):
            items = [out[k] or "" for k in trees[p + 1:p + 1 + trees[p] * (1 if kind == "ARRAY" else 2)]]
            json_only = not any(re.match(r"$|u?int |list |map |type ", i) for i in items)
            pairs = items if kind == "ARRAY" else map(":".join, zip(items[::2], items[1::2]))
            word = "list" if kind == "ARRAY" else "map"
            out.append(("[%s]" if kind == "ARRAY" else "{%s}") % ",".join(pairs) if json_only
                       else f"{word} of {trees[p]}")
            continue
        out.append({"NULL": "null", "BOOL": "true" if p else "false", "UINT": f"uint {p}",
                    "NUMBER": re.sub(r"\.0$", "", repr(number)), "INT": f"int {signed}",
                    "DURATION": f"duration {signed} ns", "BYTES": f"b'{text.hex()}'",
                    "TIMESTAMP": f"timestamp {signed}.{rec['aux']:09}",
                    "STRING": json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False),
                    "TYPE": "type " + text.decode("utf-8", "replace")}[kind])
    return out


def varint(data, at):
    v = shift = 0
    while True:
        v |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return v, at


def unzigzag(v):
    return v >> 1 ^ -(v & 1)


def places(data):
    """(line, column, offset, len) by pc, of the rows that have sub 0."""
    out, n = {}, words(data[:4])[0]
    begins, stream, at, row = words(data[4:4 + 8 * n])[1::2], data[4 + 8 * n:], 0, []
    while at < len(stream):
        before, row = [0] * 6 if at in begins else row, []
        for i in range(6):  # pc, sub, line, column, offset, len
            v, at = varint(stream, at)
            row.append((v if i in (0, 1, 5) else unzigzag(v)) + (before[i] if i in (0, 2, 3, 4) else 0))
        if row[1] == 0:
            out[row[0]] = tuple(row[2:])
    return out


def instruction(ins):
    row, values = OPS[ins["op"]], []
    for place, kind in (o.split() for o in row[1].split(", ") if o):
        values.append(LETTER[kind] + str(ins["b"] | ins["c"] << 16 if place == "x" else ins[place]))
    return (row[0] + " " + ", ".join(values)).strip()


def check_listing(sections, text):
    listed = re.findall(r"^;   k(\d+) +(.*)$", text, re.M)
    must(len(listed) == len(records(sections, "CONSTS")), "the number of constants")
    for (_, theirs), ours in zip(listed, constants(sections)):
        cut = re.sub(r' ?\.\.\.$|"\.\.\.$', "", theirs)
        must(ours.startswith(cut) and (ours == cut or len(cut) > 50), f"{ours}, listed {theirs}")
    handlers = [f"{h['begin']} to {h['end'] - 1}: L{h['target']}, " +
                ("site" if h["kind"] else f"r{h['reg']}") for h in records(sections, "HANDLERS")]
    must(re.findall(r"^;   (\d+ to .*)$", text, re.M) == handlers, "handlers")
    where, last = places(sections["POSITIONS"]), None
    code = re.findall(r"^ *\d+  ([^;\n]*?) *(?:;(?:.*?\| (\d+:\d+) .*|.*))?$", text[text.index("; code"):], re.M)
    must(len(code) == len(records(sections, "CODE")), "the number of instructions")
    for pc, ((op, place), ins) in enumerate(zip(code, records(sections, "CODE"))):
        must(instruction(ins) == op, f"{pc}: {instruction(ins)}, listed {op}")
        now = where.get(pc, last)  # a place is listed where it changes
        must(place == ("" if now == last else "%d:%d" % now[:2]), f"{pc}: at {now}, listed {place}")
        last = now


# ---- the packed form ----------------------------------------------------------------------------

def put_const(data, at, out):
    """Reads one constant, and appends it to CONSTS, STRINGS and TREES."""
    tag, at = varint(data, at)
    number, payload, aux = tag - 128 if tag >= 128 else 8 if tag >= 64 else tag, 0, 0
    kind = KIND[number]
    if kind in ("STRING", "BYTES", "TYPE"):
        payload, (n, at) = len(out["STRINGS"]), (tag - 64, at) if tag >= 64 else varint(data, at)
        points = 0 if kind == "BYTES" else len(data[at:at + n].decode())
        out["STRINGS"] += struct.pack("<4I", 0, n, points, 0) + data[at:at + n] + bytes(8 - n % 8)
        at += n
    elif kind in ("ARRAY", "OBJECT"):
        payload, (n, at) = len(out["TREES"]) // 4, varint(data, at)
        out["TREES"] += struct.pack("<I", n)
        for _ in range(n * (2 if kind == "OBJECT" else 1)):
            back, at = varint(data, at)
            out["TREES"] += struct.pack("<I", len(out["CONSTS"]) // size_of("CONSTS") - back)
    elif kind == "NUMBER" and tag < 128:
        payload, at = int.from_bytes(data[at:at + 8], "little"), at + 8
    elif kind != "NULL":
        v, at = varint(data, at)
        payload = struct.unpack("<Q", struct.pack("<d", v))[0] if tag >= 128 else unzigzag(v) % 2**64
        if kind == "TIMESTAMP":
            aux, at = varint(data, at)
    out["CONSTS"] += struct.pack("<IIQ", number, aux, payload)
    return at


def put_instruction(data, at, out):
    op, at = varint(data, at)
    ins = {"op": op, "a": 0, "b": 0, "c": 0}
    for place, kind in (o.split() for o in OPS[op][1].split(", ") if o):
        v, at = varint(data, at)
        v = len(out["CODE"]) // size_of("CODE") + unzigzag(v) if kind == "JUMPX" else v
        ins.update({"b": v & 0xFFFF, "c": v >> 16} if place == "x" else {place: v})
    out["CODE"] += struct.pack("<4H", *ins.values())
    return at


def put_records(name, n, data, at, out):
    sizes = [min(size, 4) for _, size, _ in layout(name) for _ in range(max(1, size // 4))] or [4]
    last = [-1] * len(sizes)
    for i in range(n * len(sizes)):
        v, at = varint(data, at)
        f = i % len(sizes)
        last[f] = (v - 1 if len(sizes) == 1 else last[f] + unzigzag(v)) % 2**32
        out[name] += last[f].to_bytes(sizes[f], "little")
    return at


def unpack(data):
    must(record("Packed form", data)["flags"] == 1, "the flags of the packed form")
    at, out = size_of("Packed form"), {name: b"" for name, _ in SECTIONS.values()}
    while at < len(data) - 1:
        id, at = varint(data, at)
        n, at = varint(data, at)
        name = SECTIONS[id][0]
        if name not in ("CONSTS", "CODE"):
            at = put_records(name, n, data, at, out)
            continue
        for _ in range(n):
            at = (put_const if name == "CONSTS" else put_instruction)(data, at, out)
    must(data[at:] == b"\0", "the end of the packed form")
    return {name: section for name, section in out.items() if section}


def without_hashes(strings):
    at, out = 0, b""
    while at < len(strings):
        end = at + 16 + (record("STRINGS", strings, at)["len"] + 8) // 8 * 8
        out, at = out + strings[at:at + 12] + bytes(4) + strings[at + 16:end], end
    return out


def main(mwlvm):
    check_headers()
    with tempfile.TemporaryDirectory() as folder:
        kinds, out = os.path.join(folder, "kinds.json"), os.path.join(folder, "out.mwlb")
        open(kinds, "w").write(KINDS)
        for definition in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "*.json"))) + [kinds]:
            subprocess.run([mwlvm, "asm", definition, "-o", out], check=True)
            sections = open_image(open(out, "rb").read())
            check_listing(sections, subprocess.run([mwlvm, "dis", out], check=True, capture_output=True, text=True).stdout)
            subprocess.run([mwlvm, "asm", "--strip", definition, "-o", out], check=True)
            sections["STRINGS"] = without_hashes(sections["STRINGS"])
            del sections["POSITIONS"], sections["SOURCE"]
            must(unpack(open(out, "rb").read()) == sections, f"{definition}: the packed form differs")
            print(os.path.basename(definition), "is as the page says")


main(sys.argv[1])
