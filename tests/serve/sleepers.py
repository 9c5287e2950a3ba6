#!/usr/bin/env python3
"""sleepers.py MWLVM [N]: N runs that sleep for an hour (3,000 in every test run, a million in the soak) cost rows of the store,
not memory: the server is as large with all of them as with a tenth, and goes on serving."""
import os
import sys
import time

from server import MWLVM, Case, flow, main, sleep

N = int(sys.argv.pop(2)) if len(sys.argv) > 2 else 3000
PIECE = 1000


class Sleepers(Case):
    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024

    def waiting(self):
        text = self.get("/metrics").body
        return int(next(line for line in text.splitlines() if line.startswith('mwlvm_runs{state="waiting"}')).split()[-1])

    def start(self, first, end):
        for i in range(first, end, PIECE):
            self.post("/v1/runs", [{"program": "nap", "id": f"s{k}", "input": k} for k in range(i, min(i + PIECE, end))], status=202)

    def sleeping(self, n):
        while self.waiting() < n:
            time.sleep(0.1 if N < 100000 else 2)

    def test_sleepers(self):
        self.serve()
        self.put("nap", flow({"rest": sleep("PT24H")}))
        self.put("quick", flow({"a": sleep("PT0.01S")}))
        begun = time.time()
        self.start(0, N // 10)
        self.sleeping(N // 10)
        tenth = self.memory()
        self.start(N // 10, N)
        started = time.time()
        self.sleeping(N)
        asleep, all_of_them = time.time(), self.memory()
        with open(MWLVM, "rb") as f:
            sanitized = b"__asan_init" in f.read()  # keeps what is freed
        if not sanitized:
            self.assertLess(all_of_them, tenth + 80)
        self.assertEqual(self.post("/v1/runs?wait=60", {"program": "quick", "input": 1}, status=200).json["value"], 1)
        self.assertEqual(self.get(f"/v1/runs/s{N - 1}").json["frames"][0]["step"], "rest")
        self.post(f"/v1/runs/s{N // 2}/cancel", status=202)
        self.assertEqual(self.get(f"/v1/runs/s{N // 2}/result?wait=60").json["type"], "cancellation")
        self.stop()
        size = os.stat(self.path("runs.db")).st_size
        restarted = time.time()
        self.serve()
        self.assertEqual(self.waiting(), N - 1)
        print(f"{N} sleepers: accepted in {started - begun:.0f} s, asleep after {asleep - begun:.0f} s, "
              f"{tenth:.0f} MiB with a tenth of them, {all_of_them:.0f} MiB with all, {self.memory():.0f} MiB after a restart of "
              f"{time.time() - restarted:.1f} s; {size / N:.0f} bytes of the file each")


if __name__ == "__main__":
    main()
