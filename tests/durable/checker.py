"""checker.py: does a history of durable runs keep its promises? It reads files and the database alone,
and shares no code with what it checks.

The history (one line for each thing that was seen, written with one write):
  start RUN                     `run --detach` was acknowledged
  effect RUN KEY ATTEMPT TEXT   a provider was asked to do something
  answer RUN VALUE              `mwlvm answer` was acknowledged
  result RUN JSON               a Result was shown
"""
import json
import sqlite3

DONE, FAILED, ABORTED, STUCK = 3, 4, 5, 6


def read(path):
    found = {"start": [], "effect": [], "answer": [], "result": []}
    try:
        with open(path) as f:
            for line in f:
                kind, *words = line.rstrip("\n").split(" ", 4 if line.startswith("effect") else 2)
                found[kind].append(words)
    except FileNotFoundError:
        pass
    return found


def check(database, history, effects):
    """Returns the violations. `effects`: the texts of the effects of every run, in order."""
    seen = read(history)
    wrong = []
    base = sqlite3.connect(database)
    rows = {run: (state, result) for run, state, result in base.execute("select id, state, result from run")}
    if base.execute("pragma integrity_check").fetchone()[0] != "ok":
        wrong.append("the database is damaged")
    if base.execute("select count(*) from (select id from run group by id having count(*) > 1)").fetchone()[0]:
        wrong.append("a run is there twice")
    for run, in seen["start"]:
        if run not in rows:
            wrong.append(f"{run} was accepted and is lost")
        elif rows[run][0] not in (DONE, FAILED):
            wrong.append(f"{run} has not ended: state {rows[run][0]}, {rows[run][1]}")
    for run, text in seen["result"]:
        if run not in rows or json.loads(rows[run][1] or "null") != json.loads(text):
            wrong.append(f"{run} showed the Result {text}; the store has {rows.get(run)}")
    contents = {}
    for run, key, attempt, text in seen["effect"]:
        if contents.setdefault(key, text) != text:
            wrong.append(f"{key} has two contents: {contents[key]} and {text}")
        if run not in rows:
            wrong.append(f"{key} is an effect of a run that the store does not know")
    for run in rows:
        if rows[run][0] != DONE:
            continue
        kinds = {text.split()[0] for key, text in contents.items() if key.rsplit(".", 1)[0] == run}
        for effect in effects:
            if effect not in kinds:
                wrong.append(f"{run} is done without its effect {effect}")
    taken = {}
    for run, value in seen["answer"]:
        taken.setdefault(run, []).append(json.loads(value))
    for run, values in taken.items():
        state, result = rows.get(run, (None, None))
        got = json.loads(result)["value"]["answers"] if state == DONE else values
        if sorted(got) != sorted(set(got)) or not set(got) <= set(values):
            wrong.append(f"{run} took the answers {got} of {values}")
    left = base.execute("select count(*) from inbox join run on run.seq = inbox.run where run.state in (3, 4, 5)")
    if left.fetchone()[0]:
        wrong.append("a run that is over has messages")
    base.close()
    return wrong
