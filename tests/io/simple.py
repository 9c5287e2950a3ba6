#!/usr/bin/env python3
"""simple.py MWLVM: log and uuid, seen from a Flow."""
import re
import time
import unittest

from flow import Case, call, main

UUID = r"^[0-9a-f]{8}-[0-9a-f]{4}-%d[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"


class Uuid(Case):
    def test_version_4_is_the_default(self):
        self.assertRegex(self.succeeds(call("uuid")), UUID % 4)

    def test_version_7_begins_with_the_time(self):
        before = int(time.time() * 1000)
        text = self.succeeds(call("uuid", {"version": 7}))
        self.assertRegex(text, UUID % 7)
        at = int(text.replace("-", "")[:12], 16)
        self.assertTrue(before - 1 <= at <= time.time() * 1000 + 1, (before, at))

    def test_two_runs_with_one_seed_differ(self):
        self.assertNotEqual(self.succeeds(call("uuid"), "--seed", "7"), self.succeeds(call("uuid"), "--seed", "7"))

    def test_another_version_is_refused(self):
        self.fails(call("uuid", {"version": 5}), "System.ParameterValidationFailed")


class Log(Case):
    def test_a_line_has_time_level_message_execution_and_fields(self):
        run = self.run_flow(call("log", {"message": "x\n\"y\"", "level": "warn", "fields": {"n": 1, "level": "no"}}),
                            "--id", "r1", input={"kept": True})
        self.assertEqual(run.value, {"kept": True})
        (line,) = run.log()
        self.assertRegex(line.pop("time"), r"^\d{4}-\d\d-\d\dT.*Z$")
        self.assertEqual(line, {"level": "warn", "message": "x\n\"y\"", "execution": "r1", "n": 1})

    def test_info_is_the_default_level(self):
        self.assertEqual(self.run_flow(call("log", {"message": "m"})).log()[0]["level"], "info")


main()
