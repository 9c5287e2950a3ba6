#!/usr/bin/env python3
"""file.py MWLVM: the provider file against real files, links and pipes. Full disks are in full.py."""
import json
import os
import signal
import subprocess
import threading
import time

from flow import TIMED_OUT, Case, call, gather, main, retry, timeout

PREFIX = "Provider.Call.File."


class File(Case):
    def do(self, with_, *options, input=None, **members):
        return self.succeeds(call("file", with_, **members), f"--allow-read={self.folder}", f"--allow-write={self.folder}",
                             *options, input=input)

    def refused(self, code, with_, input=None, **members):
        return self.fails(call("file", with_, **members), PREFIX + code, f"--allow-read={self.folder}",
                          f"--allow-write={self.folder}", input=input)

    def leftovers(self):
        return [name for name in os.listdir(self.folder) if name.endswith(".tmp")]


class Forms(File):
    def test_each_form_comes_back(self):
        for name, form, value in (("a.json", None, {"a": [1, None, "ä\n"]}), ("a.ndjson", None, [1, {"b": 2}, "c"]),
                                  ("a.jsonl", None, []), ("a.txt", None, "x\r\ny"), ("a.bin", "base64", "AP+A"),
                                  ("a.lst", "lines", ["a", "", "b"]), ("a.csv", None, [{"n": "1", "t": "a,\"b\"\nc"}, {"n": "", "t": " "}]),
                                  ("b.csv", None, [])):
            with_ = {"path": name, **({"as": form} if form else {})}
            self.do({**with_, "action": "write"}, input=value)
            self.assertEqual(self.do(with_), value, name)

    def test_the_text_of_json_ndjson_and_csv(self):
        self.do({"path": "a.json", "action": "write"}, input={"a": 1})
        self.assertEqual(self.text("a.json"), '{\n  "a": 1\n}\n')
        self.do({"path": "a.ndjson", "action": "write"}, input=[{"a": 1}, 2])
        self.assertEqual(self.text("a.ndjson"), '{"a":1}\n2\n')
        self.do({"path": "a.csv", "action": "write", "separator": ";"}, input=[{"a": 1, "b": None}, {"b": "x;y", "c": True}])
        with open(self.path("a.csv"), newline="") as f:
            self.assertEqual(f.read(), 'a;b;c\r\n1;;\r\n;"x;y";true\r\n')

    def test_csv_without_a_header_and_what_is_wrong_in_it(self):
        self.put("a.csv", "\ufeffa,b\r\n1,\"2\"\"\"\n\n3,4")
        self.assertEqual(self.do({"path": "a.csv"}), [{"a": "1", "b": '2"'}, {"a": "3", "b": "4"}])
        self.assertEqual(self.do({"path": "a.csv", "header": False}), [["a", "b"], ["1", '2"'], ["3", "4"]])
        for text, why in (("a,b\n1\n", "line 2: 1 fields, but the header has 2"), ("a\n\"x", "line 2: a quote is not closed"),
                          ("a\n\"x\"y\n", "line 2: text after a closing quote")):
            self.put("b.csv", text)
            self.assertIn(why, self.refused("DecodeFailed", {"path": "b.csv"})["message"])

    def test_what_cannot_be_read(self):
        self.put("a.json", "{")
        self.refused("DecodeFailed", {"path": "a.json"})
        self.put("a.ndjson", '{"a":1}\n\nx\n')
        self.assertIn("line 3", self.refused("DecodeFailed", {"path": "a.ndjson"})["message"])
        self.put("a.txt", b"\xff", "wb")
        self.refused("DecodeFailed", {"path": "a.txt"})

    def test_what_cannot_be_written(self):
        for name, form, value in (("a", "text", 5), ("a", "base64", "?"), ("a", "lines", ["a\nb"]), ("a", "csv", {"a": 1}), ("a", "csv", [1])):
            self.refused("InvalidValue", {"path": name, "as": form, "action": "write"}, input=value)
        self.assertFalse(os.path.exists(self.path("a")))

    def test_max_bytes(self):
        self.put("a", "x" * 1000)
        self.assertEqual(len(self.do({"path": "a", "maxBytes": 1000})), 1000)
        self.refused("TooLarge", {"path": "a", "maxBytes": 999})
        self.refused("TooLarge", {"path": "a", "maxBytes": 0})


class Actions(File):
    def test_write_replaces_and_keeps_the_mode(self):
        os.chmod(self.put("a", "old"), 0o640)
        self.assertEqual(self.do({"path": "a", "action": "write", "value": "newer"}), 5)
        self.assertEqual(self.text("a"), "newer")
        self.assertEqual(os.stat(self.path("a")).st_mode & 0o777, 0o640)
        self.assertEqual(self.leftovers(), [])

    def test_exclusive(self):
        self.do({"path": "a", "action": "write", "value": "1", "exclusive": True})
        self.refused("AlreadyExists", {"path": "a", "action": "write", "value": "2", "exclusive": True})
        self.assertEqual((self.text("a"), self.leftovers()), ("1", []))

    def test_append(self):
        for value in ("a", "b"):
            self.do({"path": "log", "action": "append", "value": value})
        self.assertEqual(self.text("log"), "ab")
        for value in ([{"a": 1}], [{"a": 2}]):
            self.do({"path": "t.csv", "action": "append"}, input=value)
        self.assertEqual(self.text("t.csv"), "a\n1\n2\n")
        self.do({"path": "t.ndjson", "action": "append"}, input={"x": 1})
        self.do({"path": "t.ndjson", "action": "append"}, input=[2, 3])
        self.assertEqual(self.text("t.ndjson"), '{"x":1}\n2\n3\n')
        self.refused("InvalidValue", {"path": "t.json", "action": "append"}, input=1)

    def test_many_appends_at_once_are_whole(self):
        definition = gather("file", {"path": "log", "action": "append", "as": "ndjson", "value": "{{ call.input }}"})
        self.succeeds(definition, "--allow-write=.", input=[{"n": i, "x": "y" * 2000} for i in range(300)])
        lines = [json.loads(line) for line in self.text("log").splitlines()]
        self.assertEqual(sorted(line["n"] for line in lines), list(range(300)))

    def test_list_stat_remove(self):
        self.put("b", "12")
        os.mkdir(self.path("d"))
        os.symlink("b", self.path("l"))
        self.put("d/inner", "")
        got = self.do({"path": self.folder, "action": "list"})
        self.assertEqual([(e["name"], e["type"]) for e in got],
                         [("b", "file"), ("d", "folder"), ("definition.json", "file"), ("l", "link")])
        self.assertEqual(got[0]["size"], 2)
        self.assertRegex(got[0]["modified"], r"^\d{4}-.*Z$")
        self.assertEqual(self.do({"path": "l", "action": "stat"})["type"], "file")
        self.assertEqual(self.do({"path": "l", "action": "remove"}), True)
        self.assertEqual(self.do({"path": "l", "action": "remove"}), False)
        self.assertEqual(self.text("b"), "12")
        self.refused("WrongType", {"path": "d", "action": "remove"})
        os.remove(self.path("d", "inner"))
        self.assertEqual(self.do({"path": "d", "action": "remove"}), True)

    def test_what_is_missing_or_of_another_kind(self):
        os.mkdir(self.path("d"))
        os.mkfifo(self.path("pipe"))
        for action in ("read", "stat", "list"):
            self.refused("NotFound", {"path": "none", "action": action})
        self.refused("NotFound", {"path": "none/a", "action": "write", "value": "x"})
        self.refused("WrongType", {"path": "d"})
        self.refused("WrongType", {"path": "d", "action": "write", "value": "x"})
        self.refused("WrongType", {"path": "pipe"})
        self.refused("WrongType", {"path": "pipe", "action": "append", "value": "x"})
        self.refused("WrongType", {"path": "definition.json", "action": "list"})
        self.assertEqual(self.leftovers(), [])

    def test_watch_until_it_exists(self):
        def create():
            time.sleep(0.4)
            self.put("ready", "123")
        thread = threading.Thread(target=create)
        thread.start()
        got = self.do({"path": "ready", "action": "watch", "interval": "PT0.05S"})
        thread.join()
        self.assertEqual((got["type"], got["size"]), ("file", 3))

    def test_watch_that_is_stopped(self):
        self.fails(call("file", {"path": "never", "action": "watch", "interval": "PT0.01S"}, middleware=[timeout(0.3)]),
                   TIMED_OUT, "--allow-read=.")
        self.fails(call("file", {"path": "never", "action": "watch"}, middleware=[timeout(0.1)]), TIMED_OUT, "--allow-read=.")


class Permissions(File):
    def test_reading_and_writing_are_two_rights(self):
        self.put("a", "x")
        self.fails(call("file", {"path": "{{ step.input }}"}), PREFIX + "NotPermitted", "--allow-read=/proc", input=self.path("a"))
        failure = self.fails(call("file", {"path": "{{ step.input }}", "action": "write", "value": "y"}), PREFIX + "NotPermitted",
                             "--allow-write=/proc", "--allow-read", input=self.path("a"))
        self.assertEqual(failure["details"]["flag"], "--allow-write=" + self.path("a"))
        self.assertEqual(self.text("a"), "x")

    def test_links_and_dots_do_not_lead_out(self):
        os.mkdir(self.path("in"))
        self.put("secret", "s")
        os.symlink("../secret", self.path("in", "link"))
        os.symlink("..", self.path("in", "up"))
        allowed = f"--allow-read={self.path('in')}", f"--allow-write={self.path('in')}"
        for path in ("in/link", "in/../secret", "in/up/secret"):
            self.fails(call("file", {"path": "{{ step.input }}"}), PREFIX + "NotPermitted", *allowed, input=path)
        self.fails(call("file", {"path": "{{ step.input }}", "action": "append", "value": "x"}), PREFIX + "NotPermitted", *allowed,
                   input="in/link")
        self.succeeds(call("file", {"path": "in/link", "action": "write", "value": "new"}), *allowed)
        self.assertEqual((self.text("secret"), self.text("in/link")), ("s", "new"))


class Whole(File):
    def test_a_killed_or_cancelled_write_leaves_the_old_content(self):
        """Readers look at the file all the time while runs that write it are cancelled at any stage."""
        sizes = {len("o" * 10), 6000000}
        self.put("a", "o" * 10)
        definition = self.definition(call("file", {"path": "a", "action": "write", "value": "{{ step.input }}"}))
        seen, done = set(), threading.Event()

        def read():
            while not done.is_set():
                with open(self.path("a")) as f:
                    seen.add(len(f.read()))
        reader = threading.Thread(target=read)
        reader.start()
        text = json.dumps("n" * 6000000)
        for i, delay in enumerate((0.0, 0.02, 0.05, 0.1, 0.2)):
            child = subprocess.Popen(self.command(definition, "--allow-write=."), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, cwd=self.folder, text=True)
            try:
                child.stdin.write(text)
                child.stdin.close()
            except BrokenPipeError:
                pass
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            child.wait(60)
        done.set()
        reader.join()
        self.assertLessEqual(seen, sizes)
        self.assertEqual(self.leftovers(), [])

    def test_a_device_is_not_written(self):
        failure = self.fails(call("file", {"path": "/dev/full", "action": "append", "value": "x"}), PREFIX + "WrongType", "--allow-write")
        self.assertIn("not a regular file", failure["message"])

    def test_retry_waits_for_a_file(self):
        def create():
            time.sleep(0.3)
            self.put("late", "x")
        threading.Thread(target=create).start()
        policy = {"policies": [{"match": {"codes": [PREFIX + "NotFound"]}, "attempts": 200, "backoff": {"initial": "PT0.02S"}}]}
        entry = {**retry(1), "onEntry": {"with": policy}}
        self.assertEqual(self.do({"path": "late"}, middleware=[entry]), "x")


main()
