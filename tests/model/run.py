"""run.py CASE_DIR...: cases in the conformance layout (folders with case.json, however deep) in the model."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.setrecursionlimit(20000)

import cel  # noqa: E402
import model  # noqa: E402
from values import duration_ns, expected  # noqa: E402


def load(path, default=None):
    if not os.path.exists(path):
        return default
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def run_case(folder, name):
    scenario = os.path.join(folder, "scenarios", name)
    control = load(os.path.join(scenario, "control.json"), {})
    if set(control) - {"cancelAfter", "reason"}:
        raise cel.Unsupported("a limit or a seed in control.json")
    after = duration_ns(control["cancelAfter"]) if "cancelAfter" in control else None
    got, _, _ = model.run(load(os.path.join(folder, "definition.json")),
                          load(os.path.join(scenario, "input.json")),
                          load(os.path.join(scenario, "arguments.json"), {}), after)
    return expected(load(os.path.join(scenario, "expected-result.json")), got)


def main(roots):
    passed = failed = skipped = 0
    for root in roots:
        for folder, _, files in sorted(os.walk(root)):
            if "case.json" not in files:
                continue
            for name in sorted(os.listdir(os.path.join(folder, "scenarios"))):
                try:
                    where = run_case(folder, name)
                except cel.Unsupported as e:
                    skipped += 1
                    print(f"skip {folder} {name}: {e}")
                    continue
                except Exception as e:  # the model itself is wrong
                    where = f"{type(e).__name__}: {e}"
                if where:
                    failed += 1
                    print(f"FAIL {folder} {name}: {where}")
                else:
                    passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed == 0 and passed > 0


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
