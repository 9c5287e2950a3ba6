"""Values: JSON's kinds as Python has them (numbers are floats), the kinds that only expressions have,
failures, durations, timestamps, and how Results are compared.

An expression's int is a Python int, its double a float; a bool is always tested before an int."""
import math
import re
from fractions import Fraction

NS = 10**9
EPOCH_NS = 1767225600 * NS  # 2026-01-01T00:00:00Z: where virtual time starts


class Free:
    """What the language leaves to the engine (messages, details of its own failures): equals anything,
    also nothing at all, in the Result that is compared. Each failure has its own: whether those of two
    failures are equal is not known here."""

    def __repr__(self):
        return "<free>"


class Unsure(Exception):
    """What happens depends on what the language leaves to the engine."""


class UInt(int):
    pass


class Ts:
    def __init__(self, ns):
        self.ns = ns

    def __eq__(self, other):
        return isinstance(other, Ts) and self.ns == other.ns


class Dur:
    def __init__(self, ns):
        self.ns = ns

    def __eq__(self, other):
        return isinstance(other, Dur) and self.ns == other.ns


class Failed(Exception):
    """An evaluation or validation fault: the failure Result it stands for."""

    def __init__(self, code, kind="error", note="", details=None):
        super().__init__(code + ": " + note)
        self.result = {"type": kind, "code": code, "message": Free(), "details": details or Free()}


def data(value):
    """A JSON text's value as the language sees it: every number is a double."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, list):
        return [data(v) for v in value]
    return {k: data(v) for k, v in value.items()}


class TooLarge(Exception):
    """A run whose values double again and again: the VM ends it by a limit."""


class Parts:
    """How many parts the values that expressions gave have in this run: the model has no limits, this machine has."""
    MOST, made = 1_000_000, 0


def result_value(value):
    """An expression's result as a data-plane value, or System.UnrepresentableValue."""
    Parts.made += 1
    if Parts.made > Parts.MOST:
        raise TooLarge()
    if isinstance(value, Free) or value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if abs(value) > 2**53:
            raise Failed("System.UnrepresentableValue", note="int beyond 2^53")
        return float(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Failed("System.UnrepresentableValue", note="not finite")
        return value
    if isinstance(value, list):
        return [result_value(v) for v in value]
    if isinstance(value, dict):
        if any(not isinstance(k, str) for k in value):
            raise Failed("System.UnrepresentableValue", note="key")
        return {k: result_value(v) for k, v in value.items()}
    raise Failed("System.UnrepresentableValue", note=type(value).__name__)


# ---- failures --------------------------------------------------------------------------------------

def success(value):
    return {"type": "success", "value": value}


def is_success(result):
    return result["type"] == "success"


class Flying(dict):
    """A failure in flight, with what the engine knows about it: whether it is, or has superseded, the failure
    of a cleanup, and whether an author of this frame has written the end of its chain. A plain failure has
    neither. Where a failure becomes data it is plain again; nothing depends on which object it is."""
    cleanup = severed = False


def flying(failure, cleanup=False, severed=False):
    out = Flying(failure)
    out.cleanup, out.severed = cleanup, severed
    return out


def over_cleanup(result):
    return getattr(result, "cleanup", False)


def is_severed(result):
    return getattr(result, "severed", False)


def link_end(failure, below):
    """The failure with `below` at the end of its chain, unless its history has that already."""
    at = failure.get("previous")
    while at is not None:
        if at == below:
            return failure
        if at["code"] == below["code"] and without_free(at) == without_free(below):
            raise Unsure()
        at = at.get("previous")
    return put_at_end(failure, below)


def without_free(value):
    """The value with one word for everything free."""
    if isinstance(value, dict):
        return {k: without_free(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_free(v) for v in value]
    return "<free>" if isinstance(value, Free) else value


def put_at_end(failure, below):
    previous = failure.get("previous")
    linked = below if previous is None else put_at_end(previous, below)
    return {**failure, "previous": linked}


def supersede(new, old):
    """What rises when `new` takes the place of `old`: only failures chain, and not where the author wrote
    the end of the new one's chain."""
    if is_success(old):
        return new
    return flying(new if is_severed(new) else link_end(new, old), over_cleanup(new) or over_cleanup(old),
                  is_severed(new) or is_severed(old))


ENVELOPE = ("type", "code", "message", "details", "retryable", "previous")


def check_envelope(fields):
    """The types that the specification fixes for an authored envelope."""
    def bad(note):
        raise Failed("System.ParameterValidationFailed", note=note)
    for name in ("type", "code"):
        if name in fields and not isinstance(fields[name], (str, Free)):
            bad(name)
    if fields.get("type") == "success":
        bad("type")
    if "message" in fields and not isinstance(fields["message"], (str, Free)):
        bad("message")
    if fields.get("retryable") is not None and not isinstance(fields["retryable"], (bool, Free)):
        bad("retryable")
    for name in fields:
        if name not in ENVELOPE:
            bad(name)
    previous = fields.get("previous")
    if previous is not None:  # a whole failure, and so on to the end of its chain
        if not isinstance(previous, dict) or "type" not in previous or "code" not in previous:
            bad("previous")
        check_envelope(previous)


def matches(matcher, failure):
    """The failure matcher of catch clauses and Retry policies."""
    if "codes" in matcher and not any(code_matches(p, failure["code"]) for p in matcher["codes"]):
        return False
    if "types" in matcher and failure["type"] not in matcher["types"]:
        return False
    if "retryable" in matcher and failure.get("retryable") is not matcher["retryable"]:
        return False
    return True


def code_matches(pattern, code):
    if pattern == "*":
        return True
    if pattern.endswith(".*"):
        return code.startswith(pattern[:-1])
    return pattern == code


# ---- comparison ------------------------------------------------------------------------------------

def looks_failed(value):
    return isinstance(value, dict) and isinstance(value.get("code"), str) \
        and isinstance(value.get("type"), str) and value["type"] != "success"


def same(model, other, path="$"):
    """None when the model's value and the other one are the same; otherwise where they part. Free
    parts of the model match anything; null members of an envelope match absent ones."""
    if isinstance(model, Free):
        return None
    if isinstance(model, bool) or isinstance(other, bool) or model is None or isinstance(model, str):
        return None if type(model) is type(other) and model == other else f"{path}: {model!r} / {other!r}"
    if isinstance(model, (int, float)):
        good = isinstance(other, (int, float)) and float(model) == float(other)
        return None if good else f"{path}: {model!r} / {other!r}"
    if isinstance(model, list):
        if not isinstance(other, list) or len(model) != len(other):
            return f"{path}: {model!r} / {other!r}"
        for i, (a, b) in enumerate(zip(model, other)):
            where = same(a, b, f"{path}[{i}]")
            if where:
                return where
        return None
    if not isinstance(other, dict):
        return f"{path}: {model!r} / {other!r}"
    envelope = looks_failed(model) and looks_failed(other)
    for key in sorted(set(model) | set(other)):
        if isinstance(model.get(key), Free):
            continue
        if envelope and key in ENVELOPE:
            where = same(model.get(key), other.get(key), f"{path}.{key}")
        elif key not in model or key not in other:
            where = f"{path}.{key}: only one side has it"
        else:
            where = same(model[key], other[key], f"{path}.{key}")
        if where:
            return where
    return None


def expected(want, got, path="$"):
    """The conformance suite's rules: what the expected envelope leaves out is free."""
    if want.get("type") != got.get("type"):
        return f"{path}.type: {want.get('type')!r} / {got.get('type')!r}"
    if want["type"] == "success":
        return same(want.get("value"), got.get("value"), path + ".value")
    for key, value in want.items():
        mine = got.get(key)
        if isinstance(mine, Free) and key not in ("previous",):
            continue
        if key == "previous" and value is not None:
            if mine is None:
                return f"{path}.previous: missing"
            where = expected(value, mine, path + ".previous")
        elif key == "details" and isinstance(value, dict) and isinstance(value.get("failures"), list):
            where = expected_details(value, mine, path + ".details")
        else:
            where = same(value, mine, f"{path}.{key}")
        if where:
            return where
    return None


def expected_details(want, got, path):
    if not isinstance(got, dict) or len(got.get("failures", [])) != len(want["failures"]):
        return f"{path}.failures: {want['failures']!r} / {got!r}"
    for i, (a, b) in enumerate(zip(want["failures"], got["failures"])):
        where = same(a.get("index"), b.get("index"), f"{path}.failures[{i}].index") \
            or expected(a["result"], b["result"], f"{path}.failures[{i}].result")
        if where:
            return where
    rest = {k: v for k, v in want.items() if k != "failures"}
    return same(rest, {k: v for k, v in got.items() if k in rest}, path)


# ---- time ------------------------------------------------------------------------------------------

_NUMBER = r"(\d+(?:[.,]\d+)?)"
_DURATION = re.compile(
    rf"^([+-])?P(?:{_NUMBER}W)?(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:(T)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?$", re.ASCII)


def duration_ns(text):
    """Nanoseconds of an ISO 8601 duration, or None. A year is 365 days, a month 30."""
    m = _DURATION.match(text)
    if not m:
        return None
    sign, week, year, month, week2, day, t, hour, minute, second = m.groups()
    parts = [(week, 7 * 86400), (year, 365 * 86400), (month, 30 * 86400), (week2, 7 * 86400),
             (day, 86400), (hour, 3600), (minute, 60), (second, 1)]
    if all(p is None for p, _ in parts) or (t and hour is None and minute is None and second is None):
        return None
    total = sum(Fraction(p.replace(",", ".")) * unit for p, unit in parts if p is not None)
    ns = int(total * NS)
    return -ns if sign == "-" else ns


def duration_iso(ns):
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    if ns == 0:
        return "PT0S"
    seconds, frac = divmod(ns, NS)
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    out = sign + "PT"
    if hours:
        out += f"{hours}H"
    if minutes:
        out += f"{minutes}M"
    if seconds or frac:
        out += str(seconds) + (("." + f"{frac:09d}".rstrip("0")) if frac else "") + "S"
    return out


def duration_seconds(ns):
    """What string(duration) answers."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    seconds, frac = divmod(ns, NS)
    return sign + str(seconds) + (("." + f"{frac:09d}".rstrip("0")) if frac else "") + "s"


_STAMP = re.compile(r"^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?"
                    r"([Zz]|[+-]\d\d:\d\d)$", re.ASCII)


def days_from_civil(y, m, d):
    y -= m <= 2
    era = y // 400
    yoe = y - era * 400
    doy = (153 * (m + (-3 if m > 2 else 9)) + 2) // 5 + d - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


def civil_from_days(z):
    z += 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + (3 if mp < 10 else -9)
    return yoe + era * 400 + (month <= 2), month, doy - (153 * mp + 2) // 5 + 1


def timestamp_ns(text):
    """Nanoseconds since the Unix epoch of an RFC 3339 timestamp, or None."""
    m = _STAMP.match(text)
    if not m:
        return None
    y, mo, d, h, mi, s = (int(g) for g in m.groups()[:6])
    if not (1 <= mo <= 12 and h < 24 and mi < 60 and s < 60 and 1 <= d <= 31):
        return None
    days = days_from_civil(y, mo, d)
    if civil_from_days(days) != (y, mo, d):
        return None
    seconds = days * 86400 + h * 3600 + mi * 60 + s
    zone = m.group(8)
    if zone not in "Zz":
        zh, zm = int(zone[1:3]), int(zone[4:6])
        if zh > 23 or zm > 59:
            return None
        seconds -= (zh * 3600 + zm * 60) * (1 if zone[0] == "+" else -1)
    return seconds * NS + int((m.group(7) or "0").ljust(9, "0"))


def timestamp_text(ns):
    seconds, frac = divmod(ns, NS)
    days, rest = divmod(seconds, 86400)
    y, m, d = civil_from_days(days)
    tail = ("." + f"{frac:09d}".rstrip("0")) if frac else ""
    return f"{y:04d}-{m:02d}-{d:02d}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}{tail}Z"


# ---- numbers and JSON text ---------------------------------------------------------------------------

def digits(x):
    """The fewest digits that read back as x > 0, and the power of ten of the first one."""
    mantissa, exponent = f"{x!r}".lower(), 0
    if "e" in mantissa:
        mantissa, e = mantissa.split("e")
        exponent = int(e)
    whole, _, frac = mantissa.partition(".")
    text = whole + frac
    exponent += len(whole) - 1
    stripped = text.lstrip("0")
    exponent -= len(text) - len(stripped)
    return stripped.rstrip("0") or "0", exponent


def number_json(x):
    """RFC 8785's number text."""
    if x == 0:
        return "0"
    sign, x = ("-", -x) if x < 0 else ("", x)
    ds, e = digits(x)
    n = e + 1
    if len(ds) <= n <= 21:
        return sign + ds + "0" * (n - len(ds))
    if 0 < n <= 21:
        return sign + ds[:n] + "." + ds[n:]
    if -6 < n <= 0:
        return sign + "0." + "0" * -n + ds
    tail = ds[0] + ("." + ds[1:] if len(ds) > 1 else "")
    return f"{sign}{tail}e{'+' if e >= 0 else '-'}{abs(e)}"


def number_text(x):
    """What string(double) returns: the JSON text, and words for what has none."""
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "+Inf" if x > 0 else "-Inf"
    return number_json(x)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def string_json(text):
    return '"' + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c)
                         for c in text) + '"'


def canonical(value):
    """RFC 8785 text of a data value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_json(value)
    if isinstance(value, str):
        return string_json(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(v) for v in value) + "]"
    keys = sorted(value, key=lambda k: k.encode("utf-16-be"))
    return "{" + ",".join(string_json(k) + ":" + canonical(value[k]) for k in keys) + "}"
