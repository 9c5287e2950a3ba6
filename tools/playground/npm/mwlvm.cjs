// For require(): the same functions; the module is loaded with the first call.
"use strict";
const module_ = import("./mwlvm.mjs");
module_.catch(() => {}); // each call reports it
for (const name of ["load", "check", "assemble", "start", "run"]) exports[name] = async (...args) => (await module_)[name](...args);
