#!/usr/bin/env python3
"""mwl.py: libmwlvm from Python with ctypes alone; a provider written in Python.

    MWLVM_LIBRARY=build/libmwlvm.so python3 tools/examples/mwl.py [NAME]

An mwl_value has sixteen bytes and is passed by value: two words of 32 bits and one of 64 bits.
"""
import ctypes as c
import json
import os
import sys

lib = c.CDLL(os.environ.get("MWLVM_LIBRARY", "libmwlvm.so"))


class Value(c.Structure):
    _fields_ = [("tag", c.c_uint32), ("aux", c.c_uint32), ("word", c.c_uint64)]


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char_p), ("offset", c.c_size_t)]


class Alloc(c.Structure):
    _fields_ = [("fn", c.c_void_p), ("ctx", c.c_void_p)]


class AsmProvider(c.Structure):
    _fields_ = [("file", c.c_char_p), ("text", c.c_char_p), ("len", c.c_size_t)]


class AsmOptions(c.Structure):
    _fields_ = [("alloc", Alloc), ("file", c.c_char_p), ("providers", c.POINTER(AsmProvider)),
                ("n_providers", c.c_size_t), ("library", c.c_void_p), ("functions", c.c_void_p), ("allow", c.c_void_p),
                ("deny", c.c_void_p),
                ("flags", c.c_uint), ("format", c.c_int), ("colour", c.c_bool), ("max_bytes", c.c_size_t),
                ("max_work", c.c_uint64), ("max_memory", c.c_size_t), ("guide", c.c_void_p)]


class AsmResult(c.Structure):
    _fields_ = [("image", c.c_void_p), ("image_size", c.c_size_t), ("diagnostics", c.c_char_p),
                ("diagnostics_len", c.c_size_t), ("n_errors", c.c_uint), ("n_warnings", c.c_uint), ("limit", c.c_int),
                ("alloc", Alloc)]


class Start(c.Structure):
    _fields_ = [("id", c.c_char_p), ("input", Value), ("arguments", Value), ("seed", c.c_uint64),
                ("limits", c.c_void_p), ("done", c.c_void_p), ("done_ctx", c.c_void_p)]


CALLBACK = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p)


class CallProvider(c.Structure):
    _fields_ = [("uri", c.c_char_p), ("document", c.c_char_p), ("start", CALLBACK), ("wake", CALLBACK),
                ("cancel", CALLBACK), ("blocking", CALLBACK), ("deferred", c.c_bool), ("flags", c.c_uint),
                ("restore", CALLBACK), ("replaces", c.c_bool), ("now", CALLBACK)]


def declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments
    return function


P, S, E = c.c_void_p, c.c_size_t, c.POINTER(Error)
OUT = c.POINTER(P)
status_text = declare("mwl_status_text", c.c_char_p, c.c_int)
assemble = declare("mwl_assemble_sized", c.c_int, c.c_char_p, S, c.POINTER(AsmOptions), S, c.POINTER(AsmResult), S)
asm_free = declare("mwl_asm_free", None, c.POINTER(AsmResult))
program_load = declare("mwl_program_load", c.c_int, P, P, S, c.c_int, OUT, E)
program_release = declare("mwl_program_release", None, P)
vm_new = declare("mwl_vm_new_sized", c.c_int, P, S, OUT)
vm_free = declare("mwl_vm_free", None, P)
vm_heap = declare("mwl_vm_heap", P, P)
vm_pump = declare("mwl_vm_pump", c.c_int64, P, c.c_int64)
vm_provide = declare("mwl_vm_provide_sized", c.c_int, P, c.POINTER(CallProvider), S, S, P, E)
std_register = declare("mwl_std_register", c.c_int, P, E)
run_start = declare("mwl_run_start_sized", c.c_int, P, P, c.POINTER(Start), S, OUT, E)
run_result = declare("mwl_run_result", Value, P)
run_free = declare("mwl_run_free", None, P)
json_parse = declare("mwl_json_parse", c.c_int, P, c.c_char_p, S, c.POINTER(Value), E)
json_write = declare("mwl_json_write", c.c_int, P, Value, c.c_int, OUT, c.POINTER(S))
text_free = declare("mwl_text_free", None, P, P, S)
value_drop = declare("mwl_value_drop", None, P, Value)
call_input = declare("mwl_call_input", Value, P)
call_heap = declare("mwl_call_heap", P, P)
call_succeed = declare("mwl_call_succeed", c.c_int, P, Value)
call_fail = declare("mwl_call_fail", c.c_int, P, c.c_char_p, c.c_char_p, c.c_char_p, Value)


class MwlError(Exception):
    pass


def check(status, error=None):
    if status < 0:
        said = error.message if error is not None and error.message else b""
        raise MwlError((status_text(status) + b": " + said).decode())


def to_value(heap, data):
    text, value, error = json.dumps(data).encode(), Value(), Error()
    check(json_parse(heap, text, len(text), c.byref(value), c.byref(error)), error)
    return value


def from_value(heap, value):
    text, size = P(), S()
    check(json_write(heap, value, 0, c.byref(text), c.byref(size)))
    try:
        return json.loads(c.string_at(text.value, size.value))
    finally:
        text_free(heap, text, size)


class Vm:
    """One VM with its providers: functions from a Python value to a Python value, by URI."""

    def __init__(self, providers=()):
        self.handle, self.kept, self.documents = P(), [], []
        check(vm_new(None, 0, c.byref(self.handle)))
        error = Error()
        check(std_register(self.handle, c.byref(error)), error)
        for document, function in providers:
            self.provide(document, function)

    def provide(self, document, function):
        code = f"Provider.Call.{document['codePrefix']}.Raised".encode()  # its catalog must declare it

        def start(call, _user):
            heap = call_heap(call)
            try:
                answer = to_value(heap, function(from_value(heap, call_input(call))))
            except Exception as e:  # becomes a failure of the call, with the message of the exception
                call_fail(call, None, code, str(e).encode(), Value())
                return
            call_succeed(call, answer)

        text, error = json.dumps(document).encode(), Error()
        entry = CallProvider(document["uri"].encode(), text, CALLBACK(start))
        self.kept.append((entry, text))  # the callback must live as long as the VM
        self.documents.append(AsmProvider(None, text, len(text)))
        check(vm_provide(self.handle, c.byref(entry), c.sizeof(entry), 1, None, c.byref(error)), error)

    def run(self, definition, data):
        """Assembles, runs to the end, and returns the Result."""
        text, error = json.dumps(definition).encode(), Error()
        options, out = AsmOptions(), AsmResult()
        options.providers = (AsmProvider * len(self.documents))(*self.documents)
        options.n_providers = len(self.documents)
        program, run, heap = P(), P(), vm_heap(self.handle)
        try:
            if assemble(text, len(text), c.byref(options), c.sizeof(options), c.byref(out), c.sizeof(out)) < 0:
                raise MwlError(out.diagnostics.decode())
            check(program_load(None, out.image, out.image_size, 0, c.byref(program), c.byref(error)), error)
        finally:
            asm_free(c.byref(out))
        start = Start(input=to_value(heap, data))
        try:
            check(run_start(self.handle, program, c.byref(start), c.sizeof(start), c.byref(run), c.byref(error)), error)
            vm_pump(self.handle, 2**63 - 1)
            return from_value(heap, run_result(run))
        finally:
            value_drop(heap, start.input)
            run_free(run)
            program_release(program)

    def close(self):
        vm_free(self.handle)
        self.handle = P()


def main():
    shout = ({"$schema": "https://mwl.dev/v0.1/provider/schema.json", "uri": "mwl:provider.call/acme/shout/v1",
              "codePrefix": "Shout", "description": "Upper case.", "parameters": {"type": "object"},
              "failureCatalog": {"closed": ["Provider.Call.Shout.Raised"], "open": []}},
             lambda text: text.upper() + "!")
    definition = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "shout", "steps": {
        "shout": {"action": "Call", "call": {"provider": "mwl:provider.call/acme/shout/v1"}, "next": "done"},
        "done": {"action": "Return"}}}
    vm = Vm([shout])
    good = vm.run(definition, "hello " + (sys.argv[1] if len(sys.argv) > 1 else "python"))
    bad = vm.run(definition, 7)
    print(good)
    print(bad)
    vm.close()
    return 0 if good["type"] == "success" and bad["code"] == "Provider.Call.Shout.Raised" else 1


if __name__ == "__main__":
    sys.exit(main())
