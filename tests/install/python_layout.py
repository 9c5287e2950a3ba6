#!/usr/bin/env python3
"""python_layout.py CC: the structures of tools/examples/mwl.py have the members and the layout of the headers'.

MWLVM_LIBRARY names the library, which mwl.py loads."""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tools/examples"))
import mwl  # noqa: E402

STRUCTURES = {"mwl_error": mwl.Error, "mwl_alloc": mwl.Alloc, "mwl_asm_provider": mwl.AsmProvider,
              "mwl_asm_options": mwl.AsmOptions, "mwl_asm_result": mwl.AsmResult, "mwl_start": mwl.Start,
              "mwl_call_provider": mwl.CallProvider}

python, lines = [("mwl_value", "", ctypes.sizeof(mwl.Value))], ['P("mwl_value", "", sizeof(mwl_value));']
for name, structure in STRUCTURES.items():
    python.append((name, "", ctypes.sizeof(structure)))
    lines.append(f'P("{name}", "", sizeof({name}));')
    for member, *_ in structure._fields_:
        python.append((name, member, getattr(structure, member).offset))
        lines.append(f'P("{name}", "{member}", offsetof({name}, {member}));')

with tempfile.TemporaryDirectory() as work:
    source, program = pathlib.Path(work, "layout.c"), pathlib.Path(work, "layout")
    source.write_text("#include <mwl_asm.h>\n#include <stdio.h>\n#define P(s, m, n) printf(\"%s,%s,%zu\\n\", s, m, n)\n"
                      "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
    folders = [f"-I{root / folder}" for folder in ("vm", "assembler", "stdlib")]
    subprocess.run([sys.argv[1], "-std=c11", *folders, source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()

c = [(s, m, int(n)) for s, m, n in (line.split(",") for line in printed)]
wrong = [f"{s}.{m or 'sizeof'}: C {there}, Python {here}" for (s, m, there), (_, _, here) in zip(c, python) if there != here]
print("\n".join(wrong) or f"{len(c)} sizes and offsets agree")
sys.exit(1 if wrong else 0)
