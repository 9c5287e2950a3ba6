#!/usr/bin/env python3
"""worker.py URL PROVIDER: takes calls of a provider from `mwlvm serve` and settles them. The token is in MWLVM_TOKEN."""
import json
import os
import sys
import urllib.parse
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(sys.argv[1] + path, json.dumps(body).encode() if body is not None else None,
                                     {"Authorization": "Bearer " + os.environ["MWLVM_TOKEN"]}, method=method)
    with urllib.request.urlopen(request, timeout=90) as reply:
        text = reply.read()
        return json.loads(text) if text else None


def work(call):
    """What this provider does: `call` has `input` and `arguments`. The key of the call is the same if it is repeated."""
    text = call["input"]["text"]
    if not text:
        raise ValueError("there is no text")
    return {"words": len(text.split())}


while True:
    taken = ask("GET", "/v1/calls?wait=30&lease=60&provider=" + urllib.parse.quote(sys.argv[2], safe=""))
    if not taken:
        continue
    try:
        result = {"value": work(taken["call"])}
    except Exception as error:
        result = {"failure": {"code": "Provider.Call.Count.Failed", "message": str(error)}}
    ask("POST", f"/v1/calls/{urllib.parse.quote(taken['key'], safe='')}/result", result)
    print(taken["key"], "attempt", taken["attempt"], flush=True)
