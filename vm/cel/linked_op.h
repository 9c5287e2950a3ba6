/* linked_op.h: the opcodes that only linked code has (linked.h); no program file contains them. */
#ifndef MWL_LINKED_OP_H
#define MWL_LINKED_OP_H

#include "vm/program/op.h"

/* Each stands for one, two or three instructions of the program at its place and does what they do,
 * one after the other; each is charged. So a jump to one of the others, a fault in it, and a limit
 * of fuel mean the same. The first row that fits is used.
 *
 * The joined ones are those that the programs of our cases and of the conformance suite execute
 * most often one behind the other (bench/README.md has the counts).
 *
 * X(NAME, first, second, third, "when it is used"); NOP: no further instruction. */
#define MWL_LINKED_OPCODES(X)                                                                      \
    X(LOAD_BASE, LOAD_PATH, NOP, NOP, "the base has its own place, and no key follows")            \
    X(LOAD_MEMBER, LOAD_PATH, NOP, NOP, "the base has its own place, and one key follows")         \
    X(LOAD_SLOT, LOAD_PATH, NOP, NOP, "the base has its own place, and keys follow")               \
    X(COUNT_GATE, LOAD_PATH, LT_K, GATE,                                                           \
      "a `when` that compares a count of runs with a constant number")                             \
    X(LOAD_COUNT, LOAD_PATH, NOP, NOP,                                                             \
      "one key of what a middleware contributes: a count of runs")                                 \
    X(HAS_SLOT, HAS_PATH, NOP, NOP, "the base has its own place, and a key follows")               \
    X(MAP_DATA, MAP_OF, DATA, NOP, "the object itself becomes data")                               \
    X(OUT_TO, OUT, TO, NOP, "a Step's output, and the next Step")                                  \
    X(OUT_RETURN, OUT, RETURN, NOP, "a Step's output is the Flow's")                               \
    X(PASS_TO, PASS_INPUT, TO, NOP, "the Step's input goes to the next one")                       \
    X(PASS_RETURN, PASS_INPUT, RETURN, NOP, "the Step's input is the Flow's output")               \
    X(RESULT_TO, STEP_RESULT, TO, NOP, "a call's value goes to the next Step")                     \
    X(MATCH_TO, PASS_MATCH, TO, NOP, "what was matched goes to the next Step")                     \
    X(OPEN, ENTER, ACTION, ESTABLISH, "an entry whose onEntry is its action alone")                \
    X(ACT_REENTER, ACTION, REENTER, NOP, "the action decides, and nothing is shaped")

/* How many instructions each stands for; who does one away from the loop pays for them
 * (mwl__exec_pay). */
enum {
#define X(name, first, second, third, text)                                                        \
    MWL_PARTS_##name = 1 + (MWL_OP_##second != MWL_OP_NOP) + (MWL_OP_##third != MWL_OP_NOP),
    MWL_LINKED_OPCODES(X)
#undef X
};

enum {
    MWL_OP_LAST = MWL_OP_COUNT - 1,
#define X(name, first, second, third, text) MWL_OP_##name,
    MWL_LINKED_OPCODES(X)
#undef X
        MWL_OP_ALL
};

#endif
