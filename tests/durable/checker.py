"""checker.py: does a history of durable runs keep its promises? It reads files and the database alone,
and shares no code with what it checks.

The history (one line for each thing that was seen, written with one write):
  start RUN                     `run --detach` was acknowledged
  effect RUN KEY ATTEMPT TEXT   a provider was asked to do something
  known RUN KEY NUMBER          the newest call in the snapshot that the store had of the run then; no NUMBER: it had no call
                                at work any more, or could not be asked
  answer RUN VALUE              `mwlvm answer` was acknowledged
  doubt RUN VALUE               it was given, and whether it was taken is not known
  result RUN JSON               a Result was shown
"""
import json
import sqlite3

DONE, FAILED, ABORTED, STUCK = 3, 4, 5, 6
LEFT = "select count(*) from {0}inbox i join {0}run r on r.seq = i.run where r.state in (3, 4, 5)"
TWICE = "select count(*) from (select id from {0}run group by id having count(*) > 1) t"


class Sqlite:
    """A store in a file."""

    def __init__(self, path):
        self.base = sqlite3.connect(path)

    def rows(self):
        return {run: (state, result) for run, state, result in self.base.execute("select id, state, result from run")}

    def count(self, text):
        return self.base.execute(text.format("")).fetchone()[0]

    def damage(self):
        found = self.base.execute("pragma integrity_check").fetchone()[0]
        return [] if found == "ok" else ["the database is damaged"]


class Postgres:
    """A store on a server (postgres.py)."""

    def __init__(self, server):
        self.server = server

    def rows(self):
        text = "select coalesce(json_agg(json_build_array(id, state, result)), '[]') from mwlvm.run"
        return {run: (state, result) for run, state, result in json.loads("".join(self.server.sql(text)[0]))}

    def count(self, text):
        return int(self.server.sql(text.format("mwlvm."))[0][0])

    def damage(self):
        wrong = []
        if self.count("select count(*) from {0}run where state in (3, 4, 5) and owner is not null"):
            wrong.append("a run that is over has an owner")
        if self.count("select count(*) from {0}run where state = 1 and owner is null"):
            wrong.append("a live run has no owner")
        if self.count("select count(*) from {0}event e where not exists (select 1 from {0}run r where r.seq = e.run)"):
            wrong.append("an event belongs to no run")
        return wrong


def read(path):
    found = {"start": [], "effect": [], "known": [], "answer": [], "doubt": [], "result": []}
    words_of = {"effect": 4, "known": 3}
    try:
        with open(path) as f:
            for line in f:
                kind = line.split(" ", 1)[0]
                found[kind].append(line.rstrip("\n").split(" ", words_of.get(kind, 2))[1:])
    except FileNotFoundError:
        pass
    return found


def check_effects(seen, rows, effects):
    """One content for each key; none that the store did not know of; none is missing."""
    wrong = []
    contents = {}
    for run, key, _, text in seen["effect"]:
        if contents.setdefault(key, text) != text:
            wrong.append(f"{key} has two contents: {contents[key]} and {text}")
        if run not in rows:
            wrong.append(f"{key} is an effect of a run that the store does not know")
    for _, key, count in seen["known"]:
        if count and int(count) < int(key.rsplit(".", 1)[1]):
            wrong.append(f"{key} was released when the snapshot in the store ended with call {count}")
    for run in rows:
        if rows[run][0] != DONE:
            continue
        kinds = {text.split()[0] for key, text in contents.items() if key.rsplit(".", 1)[0] == run}
        wrong += [f"{run} is done without its effect {effect}" for effect in effects if effect not in kinds]
    return wrong


def check_answers(seen, rows):
    """The acknowledged ones are taken in their order, and none is left out: another may come later for the same wait, so a
    lost one would be a gap. Values ascend in the order in which they were given, one after the other."""
    wrong = []
    given, doubts = {}, {}
    for kind, found in (("answer", given), ("doubt", doubts)):
        for run, value in seen[kind]:
            found.setdefault(run, []).append(json.loads(value))
    for run, (state, result) in rows.items():
        if state != DONE:
            continue
        got, sure, unsure = json.loads(result)["value"]["answers"], given.get(run, []), set(doubts.get(run, []))
        taken = [value for value in got if value not in unsure]
        if len(set(sure)) < len(sure):
            wrong.append(f"{run}: an answer was lost, and taken up again: {sure}")
        if got != sorted(set(got)) or taken != sure[:len(taken)]:
            wrong.append(f"{run} took the answers {got} of {sure}, and of {sorted(unsure)} in doubt")
    return wrong


def check(store, history, effects):
    """Returns the violations. `effects`: the texts of the effects of every run, in order."""
    seen = read(history)
    rows = store.rows()
    wrong = store.damage()
    if store.count(TWICE):
        wrong.append("a run is there twice")
    for run, in seen["start"]:
        if run not in rows:
            wrong.append(f"{run} was accepted and is lost")
        elif rows[run][0] not in (DONE, FAILED):
            wrong.append(f"{run} has not ended: state {rows[run][0]}, {rows[run][1]}")
    for run, text in seen["result"]:
        if run not in rows or json.loads(rows[run][1] or "null") != json.loads(text):
            wrong.append(f"{run} showed the Result {text}; the store has {rows.get(run)}")
    wrong += check_effects(seen, rows, effects) + check_answers(seen, rows)
    if store.count(LEFT):
        wrong.append("a run that is over has messages")
    return wrong
