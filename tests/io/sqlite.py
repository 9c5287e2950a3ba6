#!/usr/bin/env python3
"""sqlite.py MWLVM: the provider sqlite against real databases, which Python's sqlite3 made or looks at."""
import os
import signal
import sqlite3
import subprocess
import time

from flow import TIMED_OUT, Case, call, gather, main, timeout

PREFIX = "Provider.Call.Sqlite."
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


class Sqlite(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("a.db")
        self.allow = f"--allow-sqlite={self.file}"

    def python(self, *statements):
        db = sqlite3.connect(self.file)
        rows = [db.execute(s).fetchall() for s in statements]
        db.commit()
        db.close()
        return rows[-1]

    def sql(self, sql, params=None, **more):
        with_ = {"file": self.file, "sql": sql, **more}
        if params is not None:
            with_["params"] = params
        return self.succeeds(call("sqlite", with_), self.allow)

    def several(self, *statements):
        return call("sqlite", {"file": self.file, "statements": [{"sql": s} if isinstance(s, str) else s for s in statements]})

    def refused(self, code, definition):
        return self.fails(definition, PREFIX + code, self.allow)


class Values(Sqlite):
    def test_rows_are_objects(self):
        self.python("CREATE TABLE t (a, b)", "INSERT INTO t VALUES (1, 'x'), (2.5, NULL), (x'00ff', 'ä')")
        self.assertEqual(self.sql("SELECT * FROM t"), [{"a": 1, "b": "x"}, {"a": 2.5, "b": None}, {"a": "AP8=", "b": "ä"}])

    def test_an_integer_that_a_double_does_not_hold_is_a_text(self):
        self.assertEqual(self.sql("SELECT 9007199254740993 AS a, -9223372036854775808 AS b, -9007199254740992 AS c"),
                         [{"a": "9007199254740993", "b": "-9223372036854775808", "c": -9007199254740992}])

    def test_parameters(self):
        row = self.sql("SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, typeof(?) AS f",
                       [1, 1.5, None, True, {"x": [1]}, {"base64": "AP8="}])
        self.assertEqual(row, [{"a": 1, "b": 1.5, "c": None, "d": 1, "e": '{"x":[1]}', "f": "blob"}])
        self.assertEqual(self.sql("SELECT :a || @b || $c AS v", {"a": "1", "b": "2", "c": "3"}), [{"v": "123"}])
        self.assertEqual(self.sql("SELECT ? AS v", ["'; DROP TABLE t; --"]), [{"v": "'; DROP TABLE t; --"}])

    def test_changes(self):
        self.assertEqual(self.sql("CREATE TABLE t (a INTEGER PRIMARY KEY)")["changes"], 0)
        self.assertEqual(self.sql("INSERT INTO t VALUES (5), (7)"), {"changes": 2, "lastInsertId": 7})
        self.assertEqual(self.sql("INSERT INTO t VALUES (9) RETURNING a"), [{"a": 9}])

    def test_max_rows(self):
        self.refused("TooLarge", call("sqlite", {"file": self.file, "maxRows": 2, "sql": "VALUES (1), (2), (3)"}))
        self.assertEqual(len(self.sql("VALUES (1), (2)", maxRows=2)), 2)


class Wrong(Sqlite):
    def test_invalid_sql_and_parameters(self):
        for sql, params in (("SELEC 1", []), ("", []), ("SELECT 1; SELECT 2", []), ("SELECT ?", []), ("SELECT 1", [1]),
                            ("SELECT :a", {"b": 1}), ("SELECT ?", [{"base64": "?"}])):
            self.refused("InvalidSql", call("sqlite", {"file": self.file, "sql": sql, "params": params}))

    def test_a_constraint(self):
        self.python("CREATE TABLE t (a UNIQUE, b NOT NULL)", "INSERT INTO t VALUES (1, 1)")
        for values, kind in (("1, 2", "UNIQUE"), ("2, NULL", "NOT NULL")):
            failure = self.refused("Constraint", call("sqlite", {"file": self.file, "sql": f"INSERT INTO t VALUES ({values})"}))
            self.assertEqual(failure["details"], {"kind": kind})

    def test_not_a_database(self):
        self.put("a.db", "x" * 5000)
        self.refused("OpenFailed", call("sqlite", {"file": self.file, "sql": "SELECT * FROM t"}))

    def test_read_only(self):
        self.refused("OpenFailed", call("sqlite", {"file": self.file, "sql": "SELECT 1", "readOnly": True}))
        self.assertFalse(os.path.exists(self.file))
        self.python("CREATE TABLE t (a)")
        self.refused("InvalidSql", call("sqlite", {"file": self.file, "sql": "INSERT INTO t VALUES (1)", "readOnly": True}))
        self.assertEqual(self.sql("SELECT * FROM t", readOnly=True), [])

    def test_no_other_file_is_reached(self):
        other = self.path("other.db")
        for sql in (f"ATTACH '{other}' AS o", f"VACUUM INTO '{other}'", "PRAGMA temp_store_directory = '/tmp'",
                    "SELECT load_extension('/x.so')"):
            self.refused("InvalidSql", call("sqlite", {"file": self.file, "sql": sql}))
        self.assertFalse(os.path.exists(other))
        self.sql("VACUUM")

    def test_only_allowed_files(self):
        definition = call("sqlite", {"file": "{{ step.input }}", "sql": "SELECT 1"})
        failure = self.fails(definition, PREFIX + "NotPermitted", self.allow, input=self.path("b.db"))
        self.assertEqual(failure["details"]["flag"], "--allow-sqlite=" + self.path("b.db"))
        os.mkdir(self.path("in"))
        os.symlink("../b.db", self.path("in", "link.db"))
        self.fails(definition, PREFIX + "NotPermitted", f"--allow-sqlite={self.path('in')}", input=self.path("in", "link.db"))
        self.assertFalse(os.path.exists(self.path("b.db")))
        self.succeeds(definition, f"--allow-sqlite={self.path('in')}", input=self.path("in", "new.db"))


class Transactions(Sqlite):
    def test_several_statements_return_several_values(self):
        got = self.succeeds(self.several("CREATE TABLE t (a)", {"sql": "INSERT INTO t VALUES (?)", "params": [1]}, "SELECT * FROM t"),
                            self.allow)
        self.assertEqual(got[2], [{"a": 1}])
        self.assertEqual(self.python("SELECT * FROM t"), [(1,)])

    def test_all_or_nothing(self):
        self.python("CREATE TABLE t (a UNIQUE)")
        self.refused("Constraint", self.several("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)"))
        self.assertEqual(self.python("SELECT * FROM t"), [])
        self.refused("InvalidSql", self.several("INSERT INTO t VALUES (1)", "COMMIT"))

    def test_busy(self):
        self.python("CREATE TABLE t (a)")
        db = sqlite3.connect(self.file, isolation_level=None)
        db.execute("BEGIN EXCLUSIVE")
        before = time.time()
        failure = self.refused("Busy", call("sqlite", {"file": self.file, "sql": "INSERT INTO t VALUES (1)", "busyTimeout": "PT0.3S"}))
        self.assertTrue(failure["retryable"])
        self.assertGreaterEqual(time.time() - before, 0.3)
        before = time.time()
        self.fails(call("sqlite", {"file": self.file, "sql": "INSERT INTO t VALUES (1)", "busyTimeout": "PT1H"}, middleware=[timeout(0.2)]),
                   TIMED_OUT, self.allow)
        self.assertLess(time.time() - before, 30)
        db.execute("COMMIT")
        db.close()

    def test_a_long_query_is_stopped_and_rolled_back(self):
        self.python("CREATE TABLE t (a)")
        definition = self.several("INSERT INTO t VALUES (1)", ENDLESS)
        definition["steps"]["call"]["middleware"] = [timeout(0.3)]
        self.fails(definition, TIMED_OUT, self.allow)
        self.assertEqual(self.python("SELECT * FROM t"), [])

    def test_ctrl_c(self):
        definition = self.definition(call("sqlite", {"file": self.file, "sql": ENDLESS}))
        for delay in (0.0, 0.05, 0.2):
            child = subprocess.Popen(self.command(definition, self.allow), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            child.wait(30)

    def test_a_gather_of_two_hundred_writers(self):
        self.python("CREATE TABLE t (a)")
        definition = gather("sqlite", {"file": self.file, "sql": "INSERT INTO t VALUES (?)", "params": ["{{ call.input }}"],
                                       "busyTimeout": "PT1M"})
        self.succeeds(definition, self.allow, input=list(range(200)))
        self.assertEqual(self.python("SELECT count(*), sum(a) FROM t"), [(200, 19900)])


main()
