"""As much of JSON Schema 2020-12 as parameter schemas in the tests use, and the schemas of the providers
that the language defines. `format` is an assertion; an unknown keyword is ignored."""
import re

from values import Free, Failed, duration_ns, timestamp_ns

TYPES = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "string": lambda v: isinstance(v, str) or isinstance(v, Free),
    "number": lambda v: isinstance(v, float),
    "integer": lambda v: isinstance(v, float) and v.is_integer(),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
FORMATS = {
    "duration": lambda s: duration_ns(s) is not None,
    "uri": lambda s: re.match(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*$", s) is not None,
    "date-time": lambda s: timestamp_ns(s) is not None,
}


def equal(a, b):
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(equal(a[k], b[k]) for k in a)
    return a == b


def valid(schema, v, root=None):
    root = schema if root is None else root

    def sub(s, x):
        return valid(s, x, root)
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            target = target[part]
        if not sub(target, v):
            return False
    kinds = schema.get("type")
    if kinds is not None:
        if not any(TYPES[k](v) for k in (kinds if isinstance(kinds, list) else [kinds])):
            return False
    if "enum" in schema and not any(equal(v, e) for e in schema["enum"]):
        return False
    if "const" in schema and not equal(v, schema["const"]):
        return False
    if "not" in schema and sub(schema["not"], v):
        return False
    if any(not sub(s, v) for s in schema.get("allOf", [])):
        return False
    if "anyOf" in schema and not any(sub(s, v) for s in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(sub(s, v) for s in schema["oneOf"]) != 1:
        return False
    if isinstance(v, float):
        if v < schema.get("minimum", v) or v > schema.get("maximum", v):
            return False
        if "exclusiveMinimum" in schema and v <= schema["exclusiveMinimum"]:
            return False
        if "exclusiveMaximum" in schema and v >= schema["exclusiveMaximum"]:
            return False
        if "multipleOf" in schema and v % schema["multipleOf"] != 0:
            return False
    if isinstance(v, str):
        if not schema.get("minLength", 0) <= len(v) <= schema.get("maxLength", len(v)):
            return False
        if "pattern" in schema and not re.search(schema["pattern"], v):
            return False
        if schema.get("format") in FORMATS and not FORMATS[schema["format"]](v):
            return False
    if isinstance(v, list):
        if not schema.get("minItems", 0) <= len(v) <= schema.get("maxItems", len(v)):
            return False
        first = schema.get("prefixItems", [])
        if not all(sub(s, x) for s, x in zip(first, v)):
            return False
        if "items" in schema and not all(sub(schema["items"], x) for x in v[len(first):]):
            return False
        if schema.get("uniqueItems") and any(equal(a, b) for i, a in enumerate(v) for b in v[:i]):
            return False
    return not isinstance(v, dict) or valid_object(schema, v, sub)


def valid_object(schema, v, valid):
    if not schema.get("minProperties", 0) <= len(v) <= schema.get("maxProperties", len(v)):
        return False
    if any(name not in v for name in schema.get("required", [])):
        return False
    for name, others in schema.get("dependentRequired", {}).items():
        if name in v and any(other not in v for other in others):
            return False
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, member in v.items():
        seen = False
        if name in known:
            seen = True
            if not valid(known[name], member):
                return False
        for pattern, sub in patterns.items():
            if re.search(pattern, name):
                seen = True
                if not valid(sub, member):
                    return False
        if not seen and not valid(schema.get("additionalProperties", True), member):
            return False
    return True


def check(schema, v):
    """Arguments against a parameters schema: closed at the top unless it says otherwise."""
    schema = {"type": "object", **(schema or {})}
    if "additionalProperties" not in schema:
        schema = {**schema, "additionalProperties": False}
    if not valid(schema, v):
        raise Failed("System.ParameterValidationFailed", note=repr(v)[:80])


DURATION = {"type": "string", "format": "duration"}
STRING = {"type": "string"}
NOT_SUCCESS = {"type": "string", "not": {"const": "success"}}
MATCHER = {
    "type": "object", "minProperties": 1, "additionalProperties": False,
    "properties": {
        "codes": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": r"^(\*|[^*]+(\.\*)?)$"}},
        "types": {"type": "array", "minItems": 1, "items": NOT_SUCCESS},
        "retryable": {"type": "boolean"},
    },
}
MOCK = {
    "properties": {
        "value": {},
        "failure": {
            "type": ["object", "null"], "additionalProperties": False, "required": ["code"],
            "properties": {
                "type": NOT_SUCCESS, "code": STRING, "message": STRING, "details": {},
                "retryable": {"type": ["boolean", "null"]}, "previous": {"type": ["object", "null"]},
            },
        },
        "delay": DURATION,
        "metadata": {"type": "object"},
    },
}
BACKOFF = {
    "type": "object", "additionalProperties": False, "required": ["initial"],
    "properties": {
        "initial": DURATION, "rate": {"type": "number", "minimum": 1}, "max": DURATION,
        "jitter": {"enum": ["none", "full", "equal", "decorrelated"]},
    },
}
PHASES = {  # middleware, phase: the schema of `with`; a phase that is not here accepts only an empty one
    ("retry", "onEntry"): {
        "required": ["policies"],
        "properties": {
            "policies": {
                "type": "array", "minItems": 1,
                "items": {
                    "type": "object", "additionalProperties": False, "required": ["match", "attempts"],
                    "properties": {"match": MATCHER, "attempts": {"type": "integer", "minimum": 1},
                                   "backoff": BACKOFF},
                },
            },
        },
    },
    ("retry", "onFailure"): {
        "properties": {"delay": {"type": ["string", "null"], "format": "duration"}},
    },
    ("timeout", "onEntry"): {"required": ["duration"], "properties": {"duration": DURATION}},
    ("finally", "onAlways"): {
        "required": ["call"],
        "properties": {"call": {"type": "object"},
                       "middleware": {"type": "array", "items": {"type": "object"}}},
    },
}
