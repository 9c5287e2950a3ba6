#!/usr/bin/env python3
"""permissions.py MWLVM: attempts to reach what is not allowed, by every way that is known.

The other tests of this folder show what each right allows. Here a definition is an attacker: it may
use everything that the language has, and files that others made for it.
"""
import json
import os
import subprocess
import threading
import unittest

from flow import MWLVM, Case, call, entry, flow, main, uri
from serve_http import Server

CALL = "Provider.Call."


class Files(Case):
    """--allow-read and --allow-write of the folder `in`; `secret` lies beside it."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("in"))
        os.mkdir(self.path("other"))
        self.put("secret", "hidden")
        self.put("other/secret", "hidden")

    def refused(self, path, action="read", **with_):
        flags = f"--allow-read={self.path('in')}", f"--allow-write={self.path('in')}"
        definition = call("file", {"path": "{{ step.input }}", "action": action, **with_})
        run = self.run_flow(definition, *flags, input=path)
        self.assertNotIn("hidden", run.out + run.err, path)
        self.assertEqual(run.code, CALL + "File.NotPermitted", (path, run))
        return run.result

    def test_paths(self):
        for path in ("secret", "./secret", "in/../secret", "in/./../secret", "in//..//secret", self.path("secret"),
                     "in/x/../../secret", f"/proc/self/cwd/secret", f"/proc/self/root{self.path('secret')}", "in\u0000/../secret",
                     "IN/x", "in ", self.path("in") + "2"):
            if "\0" in path:
                self.fails(call("file", {"path": "{{ step.input }}"}), CALL + "File.NotFound", f"--allow-read={self.path('in')}", input=path)
            else:
                self.refused(path)

    def test_links(self):
        for name, target in (("link", "../secret"), ("absolute", self.path("secret")), ("up", ".."), ("twice", "link"),
                             ("root", "/"), ("process", "/proc/self/root")):
            os.symlink(target, self.path("in", name))
        rest = self.path("secret")[1:]
        for path in ("in/link", "in/absolute", "in/up/secret", "in/twice", f"in/root/{rest}", f"in/process/{rest}", "in/up/in/up/secret"):
            self.refused(path)
            self.refused(path, "stat")
            self.refused(path, "append", value="x")
        self.refused("in/up", "list")
        for action, with_ in (("write", {"value": "x"}), ("remove", {})):
            self.refused("in/up/new", action, **with_)
            self.refused("in/up/secret", action, **with_)
        self.assertEqual((self.text("secret"), os.path.exists(self.path("new"))), ("hidden", False))

    def test_a_link_that_is_changed_meanwhile(self):
        """A folder on the way leads inside and outside in turn, while thousands of runs read and write below it."""
        os.mkdir(self.path("in", "inside"))
        self.put("in/inside/secret", "open")
        self.put("definition.json", json.dumps(flow({
            "read": {"action": "Call", "call": {"provider": uri("file"), "with": {"path": "in/d/secret"}}, "next": "write",
                     "assign": {"v": "{{ step.result.value }}"}, "catch": [{"match": {"codes": ["*"]}, "assign": {"v": ""}, "next": "write"}]},
            "write": {"action": "Call", "call": {"provider": uri("file"), "with": {"path": "in/d/new", "action": "write", "value": "x"}},
                      "next": "end", "catch": [{"match": {"codes": ["*"]}, "next": "end"}]},
            "end": {"action": "Return", "value": "{{ vars.v }}"}}, "read")))
        os.symlink("inside", self.path("in", "d"))
        with open(self.path("lines"), "w") as f:
            f.write("1\n" * 4000)
        with open(self.path("lines")) as lines:
            runs = subprocess.Popen([MWLVM, "run", "definition.json", "--each", "-j", "2", "--quiet", f"--allow-read={self.path('in')}",
                                     f"--allow-write={self.path('in')}"], stdin=lines, stdout=subprocess.PIPE, cwd=self.folder, text=True)
            changes = 0
            with open(self.path("results"), "w") as out:
                copy = threading.Thread(target=lambda: out.write(runs.stdout.read()))
                copy.start()
                while runs.poll() is None:
                    os.symlink(("../other", "inside")[changes % 2], self.path("in", "next"))
                    os.replace(self.path("in", "next"), self.path("in", "d"))
                    changes += 1
                copy.join()
        runs.stdout.close()
        results = self.text("results")
        self.assertNotIn("hidden", results)
        self.assertFalse(os.path.exists(self.path("other", "new")))
        self.assertGreater(changes, 100)
        self.assertIn("open", results)  # both were met
        self.assertIn('"value":""', results)

    def test_a_link_inside_is_followed(self):
        self.put("in/a", "fine")
        os.symlink("a", self.path("in", "b"))
        self.assertEqual(self.succeeds(call("file", {"path": "in/b"}), "--allow-read=in"), "fine")

    def test_a_hard_link_is_the_file_itself(self):
        """Nobody can see from which name a file came; a definition cannot make such a link."""
        os.link(self.path("secret"), self.path("in", "hard"))
        self.assertEqual(self.succeeds(call("file", {"path": "in/hard"}), "--allow-read=in"), "hidden")
        self.succeeds(call("file", {"path": "in/hard", "action": "write", "value": "new"}), "--allow-write=in")
        self.assertEqual(self.text("secret"), "hidden")  # a write replaces the name

    def test_what_the_kernel_shows_of_processes(self):
        env = {**os.environ, "HIDDEN_VARIABLE": "hidden"}
        for flag in ("--allow-read", "--allow-read=/", "--allow-read=/proc"):
            for path in ("/proc/self/environ", f"/proc/{os.getpid()}/environ", "/proc/self/task/../environ", "/proc/thread-self/environ",
                         "/proc/self/mem", "/proc/self/maps"):
                run = self.run_flow(call("file", {"path": "{{ step.input }}"}), flag, input=path, env=env)
                self.assertEqual(run.code, CALL + "File.NotPermitted", (flag, path, run))
        self.succeeds(call("file", {"path": "/proc/loadavg"}), "--allow-read=/proc")
        self.assertIn("hidden", self.succeeds(call("file", {"path": "/proc/self/environ"}), "--allow-read=/proc/self/environ", env=env))

    def test_a_replaced_file_keeps_no_special_bits(self):
        os.chmod(self.put("in/a", "old"), 0o4755)
        self.succeeds(call("file", {"path": "in/a", "action": "write", "value": "new"}), "--allow-write=in")
        self.assertEqual(os.stat(self.path("in", "a")).st_mode & 0o7777, 0o755)

    def test_run_reads_only_what_is_allowed(self):
        self.put("other/flow.json", json.dumps(flow({"a": {"action": "Return"}}, "a")))
        os.symlink("../other/flow.json", self.path("in", "flow.json"))
        for path in ("other/flow.json", "in/flow.json", "in/../other/flow.json"):
            self.fails(call("run", {"path": "{{ step.input }}"}), CALL + "Run.NotPermitted", "--allow-read=in", input=path)

    def test_a_run_has_no_more_rights_than_its_caller(self):
        self.definition(call("file", {"path": "secret"}), "in/flow.json")
        run = self.run_flow(call("run", {"path": "in/flow.json"}), "--allow-read=in")
        self.assertEqual(run.code, CALL + "Run.Failed", run)
        self.assertNotIn("hidden", run.out)


class Programs(Case):
    def test_a_link_does_not_choose_another_program(self):
        """a/.. is not the folder that has a, if a is a link: the program that was checked is the one that runs."""
        os.makedirs(self.path("other", "sub"))
        os.symlink(self.path("other", "sub"), self.path("a"))
        for name, text in (("tool", "right"), ("other/tool", "wrong")):
            os.chmod(self.put(name, f"#!/bin/sh\nprintf {text}"), 0o755)
        for name in ("./a/../tool", self.path("a/../tool")):
            self.assertEqual(self.succeeds(call("exec", {"argv": [name]}), "--allow-exec=./tool"), "right")

    def test_names_are_not_patterns_and_not_paths(self):
        for allowed, name in (("echo", "/bin/echo"), ("echo", "./echo"), ("./tool", "tool"), ("echo", "echo "), ("echo", "ECHO"),
                              ("*", "echo"), ("/bin", "/bin/echo"), ("echo", "../../bin/echo")):
            self.fails(call("exec", {"argv": ["{{ step.input }}"]}), CALL + "Exec.NotPermitted", f"--allow-exec={allowed}", input=name)

    def test_a_program_in_the_current_folder_is_not_found_by_name(self):
        os.chmod(self.put("own-tool", "#!/bin/sh\nprintf wrong"), 0o755)
        for path in (f".:{os.environ['PATH']}", f":{os.environ['PATH']}", f"{os.environ['PATH']}:"):
            self.fails(call("exec", {"argv": ["own-tool"]}), CALL + "Exec.NotFound", "--allow-exec=own-tool",
                       env={**os.environ, "PATH": path})

    def test_cwd_does_not_leave_its_folder(self):
        os.mkdir(self.path("in"))
        os.symlink("..", self.path("in", "up"))
        for cwd in ("in/up", "in/..", ".", "/"):
            self.fails(call("exec", {"argv": ["pwd"], "cwd": "{{ step.input }}"}), CALL + "Exec.NotPermitted", "--allow-exec=pwd",
                       "--allow-read=in", input=cwd)
        self.fails(call("exec", {"argv": ["pwd"], "cwd": "{{ step.input }}"}), CALL + "Exec.StartFailed", "--allow-exec=pwd",
                   "--allow-read=in", input="in\0/..")

    def test_the_loader(self):
        for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"):
            failure = self.fails(call("exec", {"argv": ["true"], "env": {name: "x"}}), CALL + "Exec.NotPermitted", "--allow-exec=true")
            self.assertEqual(failure["details"]["flag"], "--allow-exec")


class Variables(Case):
    def test_names(self):
        env = {**os.environ, "SEEN": "1", "SEEN_TOO": "hidden", "OTHER": "hidden"}
        for name in ("SEEN_TOO", "OTHER", "seen", "SEEN ", "", "SEEN=1"):
            run = self.run_flow(call("env", {"names": ["{{ step.input }}"]}), "--allow-env=SEEN", input=name, env=env)
            self.assertIn(run.code, (CALL + "Env.NotPermitted", "System.ParameterValidationFailed"), (name, run))
        got = self.run_flow(call("env", {"names": ["{{ step.input }}"]}), "--allow-env=SEEN", input="SEEN\0_TOO", env=env)
        self.assertNotIn("hidden", got.out)
        self.fails(call("env", {"names": ["OTHER"]}), CALL + "Env.NotSet", "--allow-env=OTHER", env=os.environ)


class Databases(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("a.db")

    def test_no_statement_reaches_another_file(self):
        other = self.path("other.db")
        for sql, params in ((f"ATTACH '{other}' AS o", []), (f"ATTACH '{other[:-3]}' || '.db' AS o", []), ("ATTACH ? AS o", [other]),
                            (f"ATTACH ('{other}') AS o", []), (f"ATTACH 'file:{other}?mode=rwc' AS o", []), (f'ATTACH "{other}" AS o', []),
                            (f"ATTACH (SELECT '{other}') AS o", []), (f"VACUUM INTO '{other}'", []), ("VACUUM INTO ?", [other]),
                            ("SELECT load_extension('/x.so')", []), ("SELECT load_extension(?)", ["/x.so"]),
                            ("SELECT writefile(?, 'x')", [other]), ("SELECT readfile('/etc/passwd')", []),
                            (f"CREATE VIRTUAL TABLE v USING csv(filename='{other}')", []),
                            ("PRAGMA temp_store_directory = '/tmp'", []), ("PRAGMA data_store_directory = '/tmp'", [])):
            self.fails(call("sqlite", {"file": self.file, "sql": sql, "params": params}), CALL + "Sqlite.InvalidSql",
                       f"--allow-sqlite={self.file}")
            self.assertEqual(sorted(name for name in os.listdir(self.folder) if not name.startswith("a.db")), ["definition.json"], sql)
        self.succeeds(call("sqlite", {"file": self.file, "sql": "VACUUM"}), f"--allow-sqlite={self.file}")

    def test_names_of_databases(self):
        os.mkdir(self.path("in"))
        os.symlink("..", self.path("in", "up"))
        for name in ("b.db", "file:b.db", ":memory:", "in/../b.db", "in/up/b.db", "a.db/../b.db", self.path("b.db")):
            run = self.run_flow(call("sqlite", {"file": "{{ step.input }}", "sql": "SELECT 1"}), "--allow-sqlite=in", input=name)
            self.assertEqual(run.code, CALL + "Sqlite.NotPermitted", (name, run))
        self.fails(call("sqlite", {"file": "{{ step.input }}", "sql": "SELECT 1"}), CALL + "Sqlite.OpenFailed", "--allow-sqlite=in",
                   input="in/a\0/../../b.db")
        self.assertFalse(os.path.exists(self.path("b.db")))


class Hosts(Case):
    def get(self, url, *flags, **how):
        return self.run_flow(call("http", {"url": "{{ step.input }}", "connectTimeout": "PT2S"}), *flags, input=url, **how)

    def test_forms_of_one_address(self):
        """Every way to write 127.0.0.1 is the same host; none is reached without its name."""
        with Server() as server:
            port = server.port
            for host in ("127.0.0.1", "127.1", "127.0.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "0x7f000001", "127.0.0.1.",
                         "%31%32%37.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]",
                         "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]", "localhost", "LOCALHOST", "0.0.0.0", "0", "[::]", "[::1]",
                         "user@127.0.0.1", "example.org@127.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "[fe80::1]",
                         "[fd00::1]", "[fe80::1%25lo]"):
                run = self.get(f"http://{host}:{port}/json", "--allow-http")
                self.assertIn(run.code, (CALL + "Http.NotPermitted", CALL + "Http.InvalidRequest"), (host, run))
            self.assertEqual(server.connections, 0)
            for host in ("127.1", "2130706433"):
                self.assertEqual(self.get(f"http://{host}:{port}/json", f"--allow-http=127.0.0.1:{port}").status, 0, host)
            self.assertEqual(self.get(f"http://127.0.0.1:{port}/json", "--allow-http=127.1").status, 0)

    def test_a_name_is_not_taken_from_the_wrong_place(self):
        with Server() as server:
            port = server.port
            for url in (f"http://example.org@127.0.0.1:{port}/", f"http://example.org:80@127.0.0.1:{port}/",
                        f"http://127.0.0.1:{port}#@example.org/", f"http://127.0.0.1:{port}/?@example.org",
                        f"http://example.org\\@127.0.0.1:{port}/"):
                run = self.get(url, "--allow-http=example.org", "--allow-http=example.org:80")
                self.assertIn(run.code, (CALL + "Http.NotPermitted", CALL + "Http.InvalidRequest"), (url, run))
            self.assertEqual(server.connections, 0)

    def test_schemes(self):
        for url in ("file:///etc/passwd", "FILE:///etc/passwd", "gopher://127.0.0.1/", "dict://127.0.0.1/", "ldap://127.0.0.1/",
                    "unix:///run/x", "http+unix://x/", "http://a\r\nb/", "http://a b/", "http://example.org\0.evil/"):
            self.assertEqual(self.get(url, "--allow-all").code, CALL + "Http.InvalidRequest", url)
        with Server() as server:
            for to in ("file:///etc/passwd", "gopher://x/", "ftp://x/", "dict://127.0.0.1:11211/"):
                run = self.get(server.url("/to/302?" + to), server.allow())
                self.assertIn(run.code, (CALL + "Http.InvalidRequest", CALL + "Http.NonSuccessStatus"), (to, run))

    def test_redirects_are_checked_as_the_first_request(self):
        with Server() as server, Server() as other:
            for host in ("127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"):
                run = self.get(server.url(f"/to/302?http://{host}:{other.port}/json"), server.allow())
                self.assertEqual(run.code, CALL + "Http.NotPermitted", run)
            self.assertEqual(other.connections, 0)

    def test_the_usual_port_counts_as_named(self):
        for url, flag, known in (("https://example.invalid/", "example.invalid:443", True), ("http://example.invalid/", "example.invalid:80", True),
                                 ("http://example.invalid/", "example.invalid:443", False), ("https://example.invalid:444/", "example.invalid:443", False)):
            run = self.run_flow(call("http", {"url": url}), f"--allow-http={flag}")
            self.assertEqual(run.code if known else run.status, CALL + "Http.ConnectionFailed" if known else 2, (url, flag))

    def test_a_proxy_needs_names(self):
        """What a name leads to is known to the proxy alone: so a right to public addresses is not enough."""
        with Server() as proxy:
            env = {**os.environ, "http_proxy": proxy.url(""), "no_proxy": "10.0.0.0/8"}
            for flag in ("--allow-http", "--allow-http=*.invalid"):
                run = self.get("http://x.invalid/echo", flag, env=env)
                self.assertEqual((run.code, run.result["details"]["flag"]), (CALL + "Http.NotPermitted", "--allow-http=x.invalid"), run)
                self.assertIn("proxy", run.result["message"])
            self.assertEqual(proxy.connections, 0)
            for flag in ("--allow-http=x.invalid", "--allow-all"):
                self.assertEqual(self.get("http://x.invalid/echo", flag, env=env).status, 0)

    def test_no_proxy_is_decided_once(self):
        """An entry that only libcurl would match does not lead past the check of addresses."""
        with Server() as server:
            env = {**os.environ, "http_proxy": "http://127.0.0.1:1", "no_proxy": "localhost."}
            run = self.get(f"http://localhost:{server.port}/json", "--allow-http=*.localhost,localhost:1", env=env)
            self.assertEqual(run.code, CALL + "Http.NotPermitted", run)
            self.assertEqual(server.connections, 0)

    def test_a_password_in_a_url_is_not_shown(self):
        with Server() as server:
            run = self.get(f"http://user:pa55word@127.0.0.1:{server.port}/status/404", server.allow())
            self.assertEqual(run.code, CALL + "Http.NonSuccessStatus", run)
            self.assertNotIn("pa55word", run.out)
            self.assertTrue(server.seen[0][2]["authorization"].startswith("Basic "))
            other = Server().__enter__()
            self.addCleanup(other.__exit__)
            self.get(f"http://user:pa55word@127.0.0.1:{server.port}/to/302?{other.url('/echo')}", server.allow(), other.allow())
            self.assertNotIn("authorization", other.seen[0][2])


class Asking(Case):
    def test_an_empty_list_is_a_mistake(self):
        """--allow-read=$FOLDER with an empty variable must not allow everything."""
        for right in ("http", "exec", "read", "write", "env", "sqlite"):
            run = self.run_flow(call("uuid"), f"--allow-{right}=")
            self.assertEqual((run.status, f"--allow-{right}= has no value" in run.err), (2, True), run)

    def listed(self, definition):
        done = subprocess.run([MWLVM, "check", "--permissions", self.definition(definition)], capture_output=True, text=True)
        return [line.strip() for line in done.stdout.splitlines()[1:]]

    def test_arguments_that_one_expression_computes(self):
        unknown = "  (known only when it runs)"
        self.assertEqual(self.listed(call("env", "{{ step.input }}")), ["--allow-env" + unknown])
        self.assertEqual(self.listed(call("file", "{{ step.input }}")), ["--allow-read" + unknown, "--allow-write" + unknown])
        self.assertEqual(self.listed(call("http", "{{ step.input }}")), ["--allow-http" + unknown])
        self.assertEqual(self.listed(call("exec", "{{ step.input }}")), ["--allow-exec" + unknown])

    def test_the_flag_that_is_named_is_the_one_that_helps(self):
        for url in ("https://x.invalid/", "http://X.invalid:8080/a", "http://u@x.invalid/", "http://[0:0::1]:1/", "http://127.1:1/"):
            (flag,) = self.listed(call("http", {"url": url}))
            self.assertNotEqual(self.run_flow(call("http", {"url": url}), flag).code, CALL + "Http.NotPermitted", (url, flag))

    def test_policy_files(self):
        for text, why in (("{", "not JSON at byte 1"), ("[]", "a policy is an object"), ('{"allow": {"disk": true}}', "the rights are http, exec"),
                          ('{"allow": {"http": "x"}}', "http: a right is true, false or a list"), ('{"alow": {}}', "only the members"),
                          ('{"allow": {"http": ["ok.org", "https://a.org/"]}}', "http: 'https://a.org/': a host is wanted"),
                          ('{"allow": {"env": [""]}}', "env: '': an entry is empty"), ('{"allow": {"read": [5]}}', "read: a right"),
                          ('{"allow": "everything"}', "'allow' is an object or \"all\""), ('{"description": "x"}', "'allow' is an object")):
            run = self.run_flow(call("uuid"), "--policy", self.put("p.json", text))
            self.assertEqual((run.status, run.out), (2, ""), text)
            self.assertIn(why, run.err)
        run = self.run_flow(call("uuid"), "--policy", self.path("none.json"))
        self.assertEqual((run.status, "none.json" in run.err), (2, True))

    def test_a_comma_in_a_path(self):
        os.mkdir(self.path("a,b"))
        self.put("a,b/x", "fine")
        policy = self.put("p.json", json.dumps({"allow": {"read": ["a,b"]}}))
        self.assertEqual(self.succeeds(call("file", {"path": "a,b/x"}), "--policy", policy), "fine")


main()
