#!/usr/bin/env python3
"""input_memory.py MWLVM: how much memory an input of about 10 MB takes.

`mwlvm run` of a Pass gets a document in a file, and once the same on standard input. The most memory that was ever
resident is at most four times the text, with everything: the program, the libraries, and what reading needs. The
documents are of three kinds: small records whose parts repeat, records of users with their own strings, and items of
a catalog with coordinates and links.
"""
import json
import os
import sys
import tempfile

FLOW = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "p",
        "steps": {"p": {"action": "Pass", "next": "d"}, "d": {"action": "Return", "value": "{{ size(step.input) }}"}}}
MOST = 4.0


def record(i):
    return {"id": i, "name": f"record \u00e9 {i}", "price": i * 7 + 0.25, "tags": ["a", "b", None, True],
            "nested": {"z": 1000, "a": -0.5}}


def user(i):
    return {"id": i, "name": f"user {i}", "mail": f"user{i}@example.org", "active": i % 3 == 0, "score": i * 0.25,
            "group": f"g{i % 50}"}


def item(i):
    x, y = i * 0.0217 % 360 - 180, i * 0.0113 % 180 - 90
    ring = [[round(x + a, 6), round(y + b, 6)] for a, b in ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))]
    return {"type": "Feature", "id": f"S2A_MSIL2A_{i:08d}_T{i % 97}", "collection": "sentinel-2-l2a",
            "bbox": [round(x, 6), round(y, 6), round(x + 1, 6), round(y + 1, 6)],
            "geometry": {"type": "Polygon", "coordinates": [ring]},
            "properties": {"datetime": f"2024-03-{i % 28 + 1:02d}T10:20:{i % 60:02d}Z", "platform": "sentinel-2a",
                           "eo:cloud_cover": i * 37 % 10000 / 100, "gsd": 10, "proj:epsg": 32600 + i % 60},
            "assets": {name: {"href": f"s3://bucket/tiles/{i}/{name}.tif", "type": "image/tiff; application=geotiff",
                              "roles": ["data"], "file:size": i * 7919 % 100000000} for name in ("blue", "green", "red")},
            "links": [{"rel": "self", "href": f"https://example.org/collections/sentinel-2-l2a/items/{i}"},
                      {"rel": "collection", "href": "https://example.org/collections/sentinel-2-l2a"}]}


def peak(words, stdin):
    """The exit status, standard output and the peak of resident bytes of a process."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        if stdin:
            os.dup2(os.open(stdin, os.O_RDONLY), 0)
        os.close(read)
        os.execv(words[0], words)
    os.close(write)
    with os.fdopen(read) as f:
        out = f.read()
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), out, usage.ru_maxrss * 1024


def main(command):
    failed = cases = 0
    with tempfile.TemporaryDirectory() as folder:
        flow, doc = os.path.join(folder, "flow.json"), os.path.join(folder, "input.json")
        with open(flow, "w") as f:
            json.dump(FLOW, f)
        for make, count in ((record, 90000), (user, 100000), (item, 9000)):
            with open(doc, "w") as f: # one by one: a child begins with the peak of this process
                for i in range(count):
                    f.write(("," if i else "[") + json.dumps(make(i), separators=(",", ":")))
                f.write("]")
            size = os.path.getsize(doc)
            for how, words, stdin in (("@FILE", ["--input", "@" + doc], None), ("standard input", [], doc)):
                status, out, most = peak([command, "run", flow] + words, stdin)
                right = status == 0 and out.strip() == str(count) and most <= MOST * size
                failed += not right
                cases += 1
                print(f"{'ok' if right else 'FAILED'}: {make.__name__}, {how}: {size / 1e6:.1f} MB of text, "
                      f"{most / 1e6:.1f} MB resident, {most / size:.2f} times (at most {MOST:g})")
    print(f"[  PASSED  ] {cases - failed} tests.")
    if failed:
        print(f"[  FAILED  ] {failed} tests.")
    return 1 if failed else 0


sys.exit(main(os.path.abspath(sys.argv[1])))
