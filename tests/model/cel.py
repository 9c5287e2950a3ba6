"""A small CEL: parser and tree-walking evaluator, for what definitions in the tests write.

Evaluation follows CEL's definition: no implicit conversion between numeric types, equality and order across
them, && and || absorb errors, the macros are loops over lists and map keys. Every fault is a CelError; the
caller turns it into System.ExpressionEvaluationError."""
import json
import math
import re

from values import (Free, NS, Dur, Failed, Ts, UInt, canonical, data, duration_iso, duration_ns,
                    duration_seconds, number_text, result_value, timestamp_ns, timestamp_text)


class CelError(Exception):
    pass


class Unsupported(Exception):
    """The expression needs CEL beyond this subset."""


# ---- embedding ---------------------------------------------------------------------------------------

def body_of(text):
    """The expression inside {{ }}, or None for a literal."""
    if not (text.startswith("{{") and text.endswith("}}") and len(text) >= 4):
        return None
    i, depth, end = 2, 0, len(text)
    while i < end:
        c = text[i]
        if c in "'\"":
            triple = text[i:i + 3] in ("'''", '"""')
            quote = text[i:i + 3] if triple else c
            raw = i > 0 and text[i - 1] in "rR"
            i += len(quote)
            while i < end and not text.startswith(quote, i):
                i += 2 if text[i] == "\\" and not raw else 1
            i += len(quote)
            continue
        if text.startswith("//", i):
            line = text.find("\n", i)
            if line < 0:  # the comment reaches to the end of the body
                if depth == 0:
                    return text[2:end - 2]
                break
            i = line
            continue
        if c in "([{":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "}":
            if depth == 0 and text.startswith("}}", i):
                return text[2:i] if i == end - 2 else None
            depth -= 1
        i += 1
    raise ValueError("unbalanced expression: " + text)


# ---- parser --------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<int>0x[0-9a-fA-F]+[uU]?|\d+[uU]?)
  | (?P<string>[rRbB]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{}])
""", re.X | re.S)
_ESC = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescape(token):
    prefix = re.match(r"[rRbB]*", token).group().lower()
    token = token[len(prefix):]
    quote = 3 if token[:3] in ('"""', "'''") else 1
    text = token[quote:-quote]
    if "r" not in prefix:
        out, i = [], 0
        while i < len(text):
            if text[i] != "\\":
                out.append(text[i])
                i += 1
                continue
            c = text[i + 1]
            if c in "xX":
                out.append(chr(int(text[i + 2:i + 4], 16)))
                i += 4
            elif c in "uU":
                n = 4 if c == "u" else 8
                out.append(chr(int(text[i + 2:i + 2 + n], 16)))
                i += 2 + n
            elif c in "01234567":
                out.append(chr(int(text[i + 1:i + 4], 8)))
                i += 4
            else:
                out.append(_ESC.get(c, c))
                i += 2
        text = "".join(out)
    return text.encode("utf-8") if "b" in prefix else text


class Parser:
    def __init__(self, text):
        self.tokens, i = [], 0
        while i < len(text):
            m = _TOKEN.match(text, i)
            if not m:
                raise ValueError(f"no CEL token at {i} in {text!r}")
            i = m.end()
            if m.lastgroup != "space":
                self.tokens.append((m.lastgroup, m.group()))
        self.tokens.append(("end", ""))
        self.at = 0

    def peek(self):
        return self.tokens[self.at][1] if self.tokens[self.at][0] in ("op", "name", "end") else None

    def take(self, *ops):
        if self.tokens[self.at][0] in ("op", "name") and self.tokens[self.at][1] in ops:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def need(self, op):
        if not self.take(op):
            raise ValueError(f"expected {op} at {self.tokens[self.at]}")

    def whole(self):
        tree = self.expr()
        if self.tokens[self.at][0] != "end":
            raise ValueError(f"trailing {self.tokens[self.at]}")
        return tree

    def expr(self):
        left = self.binary(0)
        if self.take("?"):
            a = self.binary(0)
            self.need(":")
            return ("?", left, a, self.expr())
        return left

    LEVELS = [("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%")]

    def binary(self, level):
        if level == len(self.LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while True:
            op = self.take(*self.LEVELS[level])
            if not op:
                return left
            left = (op, left, self.binary(level + 1))

    def unary(self):
        if self.take("!"):
            return ("!", self.unary())
        if self.take("-"):
            kind, text = self.tokens[self.at]
            if kind in ("int", "float"):  # a negative literal
                self.at += 1
                return self.postfix(("lit", self.number(kind, "-" + text)))
            return ("neg", self.unary())
        return self.postfix(self.primary())

    @staticmethod
    def number(kind, text):
        if kind == "float":
            return float(text)
        unsigned = text[-1] in "uU"
        value = int(text.rstrip("uU"), 16 if "0x" in text else 10)
        return UInt(value) if unsigned else value

    def args(self, close):
        items = []
        while not self.take(close):
            items.append(self.expr())
            if not self.take(","):
                self.need(close)
                break
        return items

    def primary(self):
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind in ("int", "float"):
            return ("lit", self.number(kind, text))
        if kind == "string":
            return ("lit", unescape(text))
        if kind == "name":
            if text in ("true", "false", "null"):
                return ("lit", {"true": True, "false": False, "null": None}[text])
            if self.take("("):
                return ("call", None, text, self.args(")"))
            return ("name", text)
        if text == "(":
            tree = self.expr()
            self.need(")")
            return tree
        if text == "[":
            return ("list", self.args("]"))
        if text == "{":
            pairs = []
            while not self.take("}"):
                key = self.expr()
                self.need(":")
                pairs.append((key, self.expr()))
                if not self.take(","):
                    self.need("}")
                    break
            return ("map", pairs)
        raise ValueError(f"unexpected {text!r}")

    def postfix(self, tree):
        while True:
            if self.take("."):
                kind, name = self.tokens[self.at]
                self.at += 1
                if kind != "name":
                    raise ValueError("member name")
                tree = ("call", tree, name, self.args(")")) if self.take("(") else (".", tree, name)
            elif self.take("["):
                tree = ("[]", tree, self.expr())
                self.need("]")
            else:
                return tree


_parsed = {}


def parse(text):
    if text not in _parsed:
        if len(_parsed) > 5000:
            _parsed.clear()
        _parsed[text] = Parser(text).whole()
    return _parsed[text]


# ---- evaluator --------------------------------------------------------------------------------------------

def kind(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "bool"
    for cls, name in ((UInt, "uint"), (int, "int"), (float, "double"), (str, "string"), (bytes, "bytes"),
                      (list, "list"), (dict, "map"), (Ts, "timestamp"), (Dur, "duration")):
        if isinstance(v, cls):
            return name
    if isinstance(v, Free):
        raise Unsupported("an expression reads what the language leaves free")
    return "type"


NUMBERS = ("int", "uint", "double")


def equal(a, b):
    ka, kb = kind(a), kind(b)
    if ka in NUMBERS and kb in NUMBERS:
        return a == b
    if ka != kb:
        return False
    if ka == "list":
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if ka == "map":
        return set(a) == set(b) and all(equal(a[k], b[k]) for k in a)
    return a == b


def order(a, b):
    ka, kb = kind(a), kind(b)
    if ka in NUMBERS and kb in NUMBERS or ka == kb and ka in ("string", "bytes", "bool"):
        return a, b
    if ka == kb and ka in ("timestamp", "duration"):
        return a.ns, b.ns
    raise CelError("no such overload: order")


def in_range(n, k):
    low, high = (0, 2**64 - 1) if k == "uint" else (-2**63, 2**63 - 1)
    if not low <= n <= high:
        raise CelError("overflow")
    return UInt(n) if k == "uint" else n


def time_range(v):
    if isinstance(v, Dur) and abs(v.ns) > 2**63 - 1:
        raise CelError("duration out of range")
    return v


def arithmetic(op, a, b):
    ka, kb = kind(a), kind(b)
    if ka == kb == "double":
        if op == "+":
            return a + b
        if op == "-":
            return a - b
        if op == "*":
            return a * b
        if op == "/":
            if b == 0:
                if a == 0 or math.isnan(a):
                    return math.nan
                return math.copysign(math.inf, a) * math.copysign(1, b)
            return a / b
    elif ka == kb and ka in ("int", "uint"):
        a, b = int(a), int(b)
        if op in "/%":
            if b == 0:
                raise CelError("division by zero")
            q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return in_range(q if op == "/" else a - q * b, ka)
        return in_range({"+": a + b, "-": a - b, "*": a * b}[op], ka)
    elif op == "+" and ka == kb and ka in ("string", "bytes", "list"):
        return a + b
    elif op == "+" and ka == kb == "duration":
        return time_range(Dur(a.ns + b.ns))
    elif op == "+" and {ka, kb} == {"timestamp", "duration"}:
        return Ts(a.ns + b.ns)
    elif op == "-" and ka == "timestamp" and kb == "duration":
        return Ts(a.ns - b.ns)
    elif op == "-" and ka == kb and ka in ("timestamp", "duration"):
        return time_range(Dur(a.ns - b.ns))
    raise CelError(f"no such overload: {ka} {op} {kb}")


def member(value, key):
    if kind(value) == "map":
        if isinstance(key, float) and key.is_integer():
            key = int(key)
        if kind(key) in ("string", "int", "uint", "bool"):
            for k in value:
                if equal(k, key):
                    return value[k]
            raise CelError(f"no such key: {key}")
        raise CelError("bad key")
    if kind(value) == "list":
        if kind(key) not in NUMBERS or isinstance(key, float) and not key.is_integer():
            raise CelError("bad index")
        if not 0 <= key < len(value):
            raise CelError("index out of range")
        return value[int(key)]
    raise CelError(f"no member {key} in {kind(value)}")


class Scope:
    """The names an expression sees: roots of the execution context, the two clocks, loop variables."""

    def __init__(self, roots, now, wall):
        self.roots, self.now, self.wall = roots, now, wall

    def inner(self, name, value):
        return Scope({**self.roots, name: value}, self.now, self.wall)


TYPE_NAMES = {"int": "int", "uint": "uint", "double": "double", "bool": "bool", "string": "string",
              "bytes": "bytes", "list": "list", "map": "map", "null_type": "null", "type": "type"}
MACROS = ("all", "exists", "exists_one", "map", "filter")


def ev(tree, scope):
    op = tree[0]
    if op == "lit":
        return tree[1]
    if op == "name":
        if tree[1] in scope.roots:
            value = scope.roots[tree[1]]
            return value() if callable(value) else value
        if tree[1] in TYPE_NAMES:
            return ("type", TYPE_NAMES[tree[1]])
        raise CelError(f"undeclared: {tree[1]}")
    if op == ".":
        return member(ev(tree[1], scope), tree[2])
    if op == "[]":
        return member(ev(tree[1], scope), ev(tree[2], scope))
    if op in ("&&", "||"):
        return logic([lambda t=t: ev(t, scope) for t in tree[1:]], op == "||")
    if op == "?":
        test = ev(tree[1], scope)
        if not isinstance(test, bool):
            raise CelError("condition")
        return ev(tree[2] if test else tree[3], scope)
    if op == "list":
        return [ev(t, scope) for t in tree[1]]
    if op == "map":
        out = {}
        for k, v in tree[1]:
            key = ev(k, scope)
            if kind(key) not in ("string", "int", "uint", "bool") or any(equal(key, o) for o in out):
                raise CelError("bad or repeated key")
            out[key] = ev(v, scope)
        return out
    if op == "call":
        return call(tree, scope)
    if op == "!":
        v = ev(tree[1], scope)
        if not isinstance(v, bool):
            raise CelError("no such overload: !")
        return not v
    if op == "neg":
        v = ev(tree[1], scope)
        if kind(v) == "double":
            return -v
        if kind(v) == "int":
            return in_range(-v, "int")
        raise CelError("no such overload: -")
    a, b = ev(tree[1], scope), ev(tree[2], scope)
    if op == "==":
        return equal(a, b)
    if op == "!=":
        return not equal(a, b)
    if op == "in":
        if kind(b) == "list":
            return any(equal(a, x) for x in b)
        if kind(b) == "map":
            return any(equal(a, k) for k in b)
        raise CelError("no such overload: in")
    if op in ("<", "<=", ">", ">="):
        a, b = order(a, b)
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
    return arithmetic(op, a, b)


def logic(parts, decisive):
    """&& and || and their loops: one decisive operand decides, whatever the others did."""
    fault = None
    for part in parts:
        try:
            v = part()
            if not isinstance(v, bool):
                raise CelError("no such overload: logic")
            if v is decisive:
                return decisive
        except CelError as e:
            fault = fault or e
    if fault:
        raise fault
    return not decisive


def macro(tree, scope):
    _, target, name, args = tree
    items = ev(target, scope)
    if kind(items) not in ("list", "map"):
        raise CelError("not a collection")
    items, var = list(items), args[0][1]
    run = [lambda x=x: ev(args[1], scope.inner(var, x)) for x in items]

    def holds(test):
        v = test()
        if not isinstance(v, bool):
            raise CelError("predicate")
        return v
    if name == "all":
        return logic(run, False)
    if name == "exists":
        return logic(run, True)
    if name == "exists_one":
        return sum([holds(t) for t in run]) == 1
    if name == "filter":
        return [x for x, t in zip(items, run) if holds(t)]
    if len(args) == 3:
        return [ev(args[2], scope.inner(var, x)) for x, t in zip(items, run) if holds(t)]
    return [t() for t in run]


def call(tree, scope):
    _, target, name, args = tree
    if target is not None and name in MACROS and len(args) in (2, 3) and args[0][0] == "name":
        return macro(tree, scope)
    if target is None and name == "has":
        holder = ev(args[0][1], scope)
        if kind(holder) != "map":
            raise CelError("has() of no map")
        return any(equal(k, args[0][2]) for k in holder)
    if target is None and name == "now" and not args:
        return Ts(scope.now)
    if target is None and name == "wallTime" and not args:
        return Ts(scope.wall)
    if target is not None and target == ("name", "base64"):
        target = None
        name = "base64." + name
    values = ([ev(target, scope)] if target is not None else []) + [ev(a, scope) for a in args]
    function = FUNCTIONS.get((name, len(values)))
    if not function:
        raise Unsupported(f"{name}/{len(values)}")
    return function(*values)


# ---- functions -------------------------------------------------------------------------------------------

def overload(*kinds):
    def wrap(f):
        def checked(*values):
            for v, k in zip(values, kinds):
                if k and kind(v) not in (k if isinstance(k, tuple) else (k,)):
                    raise CelError(f"no such overload of {f.__name__}: {kind(v)}")
            return f(*values)
        return checked
    return wrap


def to_string(v):
    k = kind(v)
    if k == "string":
        return v
    if k == "bool":
        return "true" if v else "false"
    if k in ("int", "uint"):
        return str(int(v))
    if k == "double":
        return number_text(v)
    if k == "timestamp":
        return timestamp_text(v.ns)
    if k == "duration":
        return duration_seconds(v.ns)
    if k == "bytes":
        try:
            return v.decode("utf-8")
        except UnicodeDecodeError:
            raise CelError("not UTF-8")
    raise CelError("no such overload: string")


def to_int(v):
    k = kind(v)
    if k in ("int", "uint"):
        return in_range(int(v), "int")
    if k == "double":
        if not math.isfinite(v) or not -2**63 < v < 2**63:
            raise CelError("range")
        return int(v)
    if k == "string":
        if not re.fullmatch(r"[+-]?\d+", v, re.ASCII):
            raise CelError("not an int")
        return in_range(int(v), "int")
    if k == "timestamp":
        return v.ns // NS
    if k == "duration":
        return int(v.ns / NS) if abs(v.ns) < 2**53 else v.ns // NS
    raise CelError("no such overload: int")


def to_uint(v):
    if kind(v) == "double" and not (math.isfinite(v) and 0 <= v < 2**64):
        raise CelError("range")
    if kind(v) not in ("int", "uint", "double", "string"):
        raise CelError("no such overload: uint")
    if kind(v) == "string" and not re.fullmatch(r"\d+", v, re.ASCII):
        raise CelError("not a uint")
    return in_range(int(v), "uint")


def to_double(v):
    if kind(v) in NUMBERS:
        return float(v)
    if kind(v) == "string":
        if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", v, re.ASCII):
            return float(v)
        special = {"nan": math.nan, "inf": math.inf, "+inf": math.inf, "-inf": -math.inf,
                   "infinity": math.inf, "+infinity": math.inf, "-infinity": -math.inf}
        if v.lower() in special:
            return special[v.lower()]
    raise CelError("no such overload: double")


def to_bool(v):
    words = {"true": True, "t": True, "TRUE": True, "True": True, "1": True,
             "false": False, "f": False, "FALSE": False, "False": False, "0": False}
    if isinstance(v, bool):
        return v
    if kind(v) == "string" and v in words:
        return words[v]
    raise CelError("no such overload: bool")


def to_timestamp(v):
    if kind(v) == "timestamp":
        return v
    if kind(v) == "int":
        return Ts(v * NS)
    if kind(v) == "string" and timestamp_ns(v) is not None:
        return Ts(timestamp_ns(v))
    raise CelError("no such overload: timestamp")


def to_duration(v):
    if kind(v) == "duration":
        return v
    if kind(v) == "string":
        m = re.fullmatch(r"([+-]?)((?:\d+(?:\.\d*)?(?:h|m|s|ms|us|ns))+|0)", v, re.ASCII)
        if m:
            units = {"h": 3600 * NS, "m": 60 * NS, "s": NS, "ms": 10**6, "us": 1000, "ns": 1}
            total = 0
            for number, unit in re.findall(r"(\d+(?:\.\d*)?)(ms|us|ns|h|m|s)", m.group(2)):
                whole, _, frac = number.partition(".")
                total += int(whole) * units[unit] + (int(frac) * units[unit] // 10**len(frac) if frac else 0)
            return time_range(Dur(-total if m.group(1) == "-" else total))
    raise CelError("no such overload: duration")


@overload(("string", "bytes", "list", "map"))
def size(v):
    return len(v)


class FreeText(str):
    """The text of a value with free parts: only fromJson can read it."""


def has_free(v):
    if isinstance(v, dict):
        return any(has_free(x) for x in v.values())
    return any(has_free(x) for x in v) if isinstance(v, list) else isinstance(v, Free)


def to_json(v):
    try:
        plain = result_value(v)
    except Failed:
        raise CelError("toJson of no data-model value")
    if not has_free(plain):
        return canonical(plain)
    out = FreeText("free")
    out.value = plain
    return out


def unique(pairs):
    return dict(pairs)


def refuse_constant(_):
    raise ValueError("no JSON number")


@overload("string")
def from_json(text):
    if isinstance(text, FreeText):
        return result_value(text.value)
    try:
        value = data(json.loads(text, object_pairs_hook=unique, parse_constant=refuse_constant))
        result_value(value)
        return value
    except (ValueError, RecursionError, Failed):
        raise CelError("not JSON")


@overload("string")
def duration_from_iso(text):
    ns = duration_ns(text)
    if ns is None:
        raise CelError("not a duration")
    return time_range(Dur(ns))


@overload("duration")
def duration_to_iso(d):
    return duration_iso(d.ns)


@overload("string", "string")
def regex(text, pattern):
    try:
        return re.search(pattern, text) is not None
    except re.error:
        raise CelError("pattern")


def type_of(v):
    return ("type", kind(v))


@overload("duration")
def get_hours(d):
    return int(d.ns / (3600 * NS))


@overload("duration")
def get_minutes(d):
    return int(d.ns / (60 * NS))


FUNCTIONS = {
    ("string", 1): to_string, ("int", 1): to_int, ("uint", 1): to_uint, ("double", 1): to_double,
    ("bool", 1): to_bool, ("timestamp", 1): to_timestamp, ("duration", 1): to_duration,
    ("dyn", 1): lambda v: v, ("type", 1): type_of, ("size", 1): size,
    ("bytes", 1): overload(("string", "bytes"))(lambda v: v if isinstance(v, bytes) else v.encode()),
    ("toJson", 1): to_json, ("fromJson", 1): from_json,
    ("durationToIso8601", 1): duration_to_iso, ("durationFromIso8601", 1): duration_from_iso,
    ("contains", 2): overload("string", "string")(lambda a, b: b in a),
    ("startsWith", 2): overload("string", "string")(lambda a, b: a.startswith(b)),
    ("endsWith", 2): overload("string", "string")(lambda a, b: a.endswith(b)),
    ("matches", 2): regex, ("getHours", 1): get_hours, ("getMinutes", 1): get_minutes,
}


def raw(text, roots, now, wall):
    """An expression's result, whatever its kind; Failed when evaluation faults."""
    try:
        return ev(parse(text), Scope(roots, now, wall))
    except CelError as e:
        raise Failed("System.ExpressionEvaluationError", note=str(e) + " in " + text)


def evaluate(text, roots, now, wall):
    """An expression's result as a data-plane value."""
    return result_value(raw(text, roots, now, wall))
