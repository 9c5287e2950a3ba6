/* play.h: the library behind one function, for JavaScript: a request as JSON text, a reply as JSON
 * text. The playground and the npm package call it in WebAssembly; mwl-play calls it from a shell,
 * and so the tests do without WebAssembly.
 *
 * A request is an object; `do` says what is wanted. Texts that a person writes (the definition, the
 * input, the case) are strings that hold JSON, so that a mistake in them has a line and a column.
 *
 *     {"do": "about"}           -> {"version", "missing": [words]}
 *     {"do": "check", SUBJECT}  -> {CHECKED}
 *     {"do": "assemble", SUBJECT, "strip", "pack"} -> {CHECKED, "image": base64, or null}
 *     {"do": "look", SUBJECT}   -> {CHECKED, "svg": text or null, "listing": text or null}
 *     {"do": "start", SUBJECT or "image": base64, "input", "arguments", "id", "seed", "fuel",
 *      "memory", "slice", "virtual": bool, "record": bool, "lines": bool}
 *                               -> {CHECKED, "run": number, STATE}, or {CHECKED, "run": null}
 *     {"do": "go", "run", "until": "step", "wait", "timer" or "end", "fuel"} -> {STATE}
 *     {"do": "answer", "run", "number", "value" or "failure": JSON as text} -> {"ok": bool, STATE}
 *     {"do": "cancel", "run", "reason"} -> {STATE}
 *     {"do": "state", "run"}    -> {STATE}
 *     {"do": "report", "run"}   -> {"svg": text or null, "data": object for mwlReport}
 *     {"do": "end", "run"}      -> {}
 *
 *   SUBJECT  "definition": text; "name": for messages; "case": text: the answers of providers, or a
 *            case of `mwlvm test` (tools/TESTING.md), in which `providers` has documents instead of
 *            names of files
 *   CHECKED  "ok": bool, "diagnostics": as `mwlvm check --format json` prints them, "problems":
 *            [{"in": "input", "message", "line", "column"}] of the other texts
 *   STATE    "state": "ready", "waiting", "done" or "aborted"; "now" and "due" in ns since the
 * start (due null: nothing is), "stops": how many events `until: "step"` has seen, "where", "vars",
 * "calls": calls that wait for an answer from outside, "unexpected": calls that no answer fits,
 * "result", "why", and "lines": events since the last reply
 *
 * A request that cannot be served has the reply {"error": words}. */
#ifndef MWL_PLAY_H
#define MWL_PLAY_H

#include <stddef.h>

struct play;

/* Returns NULL if out of memory. */
struct play *play_new(void);
void play_free(struct play *p); /* NULL is ignored */

/* Serves a request of len bytes. Returns the reply with a NUL at its end, lent until the next one;
 * *out_len is its length. Never NULL. */
const char *play_request(struct play *p, const char *json, size_t len, size_t *out_len);

#endif
