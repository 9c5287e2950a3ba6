#!/usr/bin/env python3
"""values.py MWLVM: env, hash, random and template, seen from a Flow."""
import base64
import hashlib
import hmac
import json
import os

from flow import Case, call, flow, gather, main, timeout, uri


class Env(Case):
    ENV = {**os.environ, "API_KEY": "s3cr3t-\"key\"", "MODE": "fast", "EMPTY": ""}

    def test_one_several_and_renamed(self):
        allow = "--allow-env=API_KEY,MODE,EMPTY"
        for names, value in (("MODE", "fast"), (["MODE", "EMPTY"], {"MODE": "fast", "EMPTY": ""}), ({"m": "MODE"}, {"m": "fast"})):
            self.assertEqual(self.succeeds(call("env", {"names": names, "secret": False}), allow, env=self.ENV), value)

    def test_not_set(self):
        failure = self.fails(call("env", {"names": ["MODE", "NOPE"]}), "Provider.Call.Env.NotSet", "--allow-env", env=self.ENV)
        self.assertEqual(failure["details"], {"name": "NOPE"})
        self.assertEqual(self.succeeds(call("env", {"names": ["NOPE"], "default": None}), "--allow-env"), {"NOPE": None})

    def test_only_allowed_names(self):
        definition = call("env", {"names": ["MODE", "{{ step.input }}"], "secret": False})
        failure = self.fails(definition, "Provider.Call.Env.NotPermitted", "--allow-env=MODE", input="API_KEY", env=self.ENV)
        self.assertEqual(failure["details"]["flag"], "--allow-env=API_KEY")


class Secrets(Case):
    """A value of env is looked for in the log."""
    SECRET = "hunter2-\"quoted\"-\u00e4"

    def forms(self):
        raw = self.SECRET.encode()
        return [raw, self.SECRET.replace('"', '\\"').encode(), base64.b64encode(raw)[:-4]]

    def look(self, data, where):
        for form in self.forms():
            self.assertNotIn(form, data if isinstance(data, bytes) else data.encode(), where)

    def test_the_log(self):
        read = {"action": "Call", "call": {"provider": uri("env"), "with": {"names": "TOKEN"}, "onSuccess": {"assign": {"t": "{{ call.result.value }}"}}},
                "next": "log"}
        log = {"action": "Call", "call": {"provider": uri("log"), "with": {"message": "{{ 'token ' + vars.t }}", "fields": {"t": "{{ vars.t }}"}}},
               "next": "fail"}
        fail = {"action": "Call", "call": {"provider": uri("exec"), "with": {
            "argv": ["sh", "-c", "echo \"$1\" >&2; exit 1", "sh", "{{ vars.t }}"]}}, "next": "end"}
        definition = flow({"read": read, "log": log, "fail": fail, "end": {"action": "Return"}}, "read")
        run = self.run_flow(definition, "--allow-env=TOKEN", "--allow-exec=sh", env={**os.environ, "TOKEN": self.SECRET})
        self.assertEqual(run.code, "Provider.Call.Exec.NonZeroExit", run)
        self.assertEqual((run.log()[0]["t"], run.log()[0]["message"]), ("[secret]", "token [secret]"))
        self.look(json.dumps(run.log(), ensure_ascii=False), "log")


class Hash(Case):
    def test_every_algorithm(self):
        for name in ("sha256", "sha384", "sha512", "sha1", "md5"):
            self.assertEqual(self.succeeds(call("hash", {"algorithm": name}), input="ä"), hashlib.new(name, "ä".encode()).hexdigest())

    def test_hmac_of_rfc_4231(self):
        got = self.succeeds(call("hash", {"value": "what do ya want for nothing?", "key": "Jefe"}))
        self.assertEqual(got, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        self.assertEqual(self.succeeds(call("hash", {"value": "x", "key": ""})), hmac.new(b"", b"x", "sha256").hexdigest())
        key = base64.b64encode(bytes(range(200))).decode()
        self.assertEqual(self.succeeds(call("hash", {"value": "x", "key": key, "keyFrom": "base64"})),
                         hmac.new(bytes(range(200)), b"x", "sha256").hexdigest())

    def test_values_are_canonical_json(self):
        one = self.succeeds(call("hash"), input={"b": 1, "a": [1.0]})
        self.assertEqual(one, self.succeeds(call("hash"), input={"a": [1], "b": 1}))
        self.assertEqual(one, hashlib.sha256(b'{"a":[1],"b":1}').hexdigest())

    def test_forms(self):
        digest = hashlib.sha256(b"\0\xff").digest()
        self.assertEqual(self.succeeds(call("hash", {"from": "base64", "as": "base64"}), input="AP8="), base64.b64encode(digest).decode())
        self.assertEqual(self.succeeds(call("hash", {"from": "base64", "as": "base64url"}), input="AP8"),
                         base64.urlsafe_b64encode(digest).decode().rstrip("="))
        self.fails(call("hash", {"from": "base64"}), "Provider.Call.Hash.InvalidValue", input="?")
        self.fails(call("hash", {"from": "base64"}), "Provider.Call.Hash.InvalidValue", input=5)

    def test_a_gather_and_a_cancellation(self):
        got = self.succeeds(gather("hash", {}), input=list(range(500)))
        self.assertEqual(got, [hashlib.sha256(str(i).encode()).hexdigest() for i in range(500)])
        self.run_flow(call("hash", {}, middleware=[timeout(0.0001)]), input="x" * 5000000)


class Random(Case):
    def test_one_seed_makes_the_same_values(self):
        definition = call("random", {"count": 20})
        first = self.succeeds(definition, "--seed", "5")
        self.assertEqual(first, self.succeeds(definition, "--seed", "5"))
        self.assertNotEqual(first, self.succeeds(definition, "--seed", "6"))
        self.assertTrue(all(0 <= x < 1 for x in first) and len(set(first)) == 20)

    def test_integers_reach_both_ends(self):
        got = self.succeeds(call("random", {"kind": "integer", "min": -1, "max": 1, "count": 200}))
        self.assertEqual(set(got), {-1, 0, 1})
        self.assertEqual(self.succeeds(call("random", {"kind": "integer", "min": 7, "max": 7})), 7)

    def test_choice_and_shuffle(self):
        self.assertIn(self.succeeds(call("random", {"kind": "choice"}), input=["a", "b"]), ["a", "b"])
        got = self.succeeds(call("random", {"kind": "choice", "of": list(range(50)), "count": 20}))
        self.assertTrue(len(set(got)) == 20 and set(got) <= set(range(50)))
        got = self.succeeds(call("random", {"kind": "shuffle"}), "--seed", "3", input=list(range(50)))
        self.assertEqual(sorted(got), list(range(50)))
        self.assertNotEqual(got, list(range(50)))

    def test_wrong_arguments(self):
        self.fails(call("random", {"min": 2, "max": 1}), "Provider.Call.Random.InvalidRange")
        self.fails(call("random", {"kind": "integer", "min": 0, "max": 1e17}), "Provider.Call.Random.InvalidRange")
        self.fails(call("random", {"kind": "choice"}), "Provider.Call.Random.TooFew", input=[])
        self.fails(call("random", {"kind": "choice", "count": 3}), "Provider.Call.Random.TooFew", input=[1, 2])


class Template(Case):
    def fill(self, text, values, *options, **with_):
        return self.succeeds(call("template", {"text": "{{ step.input.t }}", "values": "{{ step.input.v }}", **with_}),
                             input={"t": text, "v": values})

    def test_places(self):
        values = {"a": {"b": ["x", 5]}, "n": None, "o": {"k": True}}
        self.assertEqual(self.fill("{{a.b.0}}-{{ a.b.1 }}-{{n}}-{{ o }}.", values), 'x-5--{"k":true}.')
        self.assertEqual(self.fill("no place", {}), "no place")
        self.assertEqual(self.fill("", {}), "")
        self.assertEqual(self.fill("{{ . }}", "all"), "all")
        self.assertEqual(self.fill("{{ a }}{{ b }}", {"a": "{{ b }}", "b": "!"}), "{{ b }}!")

    def test_other_delimiters_in_the_definition(self):
        self.assertEqual(self.succeeds(call("template", {"text": "Hello <% name %>", "delimiters": ["<%", "%>"]}), input={"name": "you"}),
                         "Hello you")

    def test_missing_values(self):
        run = self.run_flow(call("template", {"text": "<a.b>", "delimiters": ["<", ">"]}), input={"a": 1})
        self.assertEqual((run.code, run.result["details"]), ("Provider.Call.Template.MissingValue", {"name": "a.b"}))
        self.assertEqual(self.fill("{{ x }}.", {}, missing="empty"), ".")
        self.assertEqual(self.fill("{{ x }}.", {}, missing="keep"), "{{ x }}.")

    def test_invalid_templates(self):
        for text in ("< a", "<", "<>", "x< >"):
            self.fails(call("template", {"text": text, "delimiters": ["<", ">"]}), "Provider.Call.Template.InvalidTemplate", input={"a": 1})

    def test_escapes(self):
        value = "<a href=\"x\">'&\n\u00e4"
        self.assertEqual(self.fill("{{.}}", value, escape="html"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\n\u00e4")
        self.assertEqual(self.fill("{{.}}", "a b/\u00e4", escape="url"), "a%20b%2F%C3%A4")
        self.assertEqual(self.fill("\"{{.}}\"", value, escape="json"), '"<a href=\\"x\\">\'&\\n\u00e4"')


main()
