/* opcodes.h: the opcode table and the operand-kind table; nothing else.
 *
 * An instruction is eight bytes: op, a, b, c, each 16 bits. A kind that ends in X is 32 bits wide
 * and takes the places of b and c together (low half in b); it is written in the b column, with
 * NONE in c.
 *
 * Everything that must agree with these rows is made from them: the enum and names (op.h, op.c),
 * the disassembler's text, the verifier's checks of operands and of what registers hold, the
 * ranges that the assembler guards with a handler, the interpreter's dispatch table, OPCODES.md,
 * the generated negative tests and the instruction-set number in an image's header.
 * tests/unit/test_op_facts.c runs the opcodes of expressions and compares what they do with what
 * their rows say. */
#ifndef MWL_OPCODES_H
#define MWL_OPCODES_H

/* Operand kinds: name, letter in listings, how many registers it names, what happens to them, what
 * bounds it. The bound is a count of the loaded program, or a fixed number.
 *
 * Registers: 0, 1, 4 or MWL_RUN. Another operand of the instruction determines the length of a run:
 * SHAPE, as many as the shape has keys; FN, as the function has arguments; IMM, that number.
 *
 * What happens to them: READS: the value stays where it is. FILLS: the old value is not looked at,
 * a new one takes its place. CHANGES: read, and a new value takes its place. TAKES: read, and null
 * afterwards: the value moves on with its count. ITERATES: the four registers of a loop: the
 * container, the position, and one or two loop variables. */
#define MWL_RUN 0xffu
#define MWL_OPERAND_KINDS(X)                                                                       \
    X(NONE, "", 0, NOTHING, "zero")                                                                \
    X(REG, "r", 1, READS, "below the program's register count")                                    \
    X(OUT, "r", 1, FILLS, "below the program's register count")                                    \
    X(INOUT, "r", 1, CHANGES, "below the program's register count")                                \
    X(TAKEN, "r", 1, TAKES, "below the program's register count")                                  \
    X(REGS, "r", MWL_RUN, READS, "first of several registers, the last below the register count")  \
    X(TAKENS, "r", MWL_RUN, TAKES,                                                                 \
      "first of several registers, the last below the register count")                             \
    X(ITER, "r", 4, ITERATES, "first of four registers, the last below the register count")        \
    X(IMM, "#", 0, NOTHING, "any 16-bit number")                                                   \
    X(K, "k", 0, NOTHING, "below the constant count")                                              \
    X(KEY, "k", 0, NOTHING, "a string constant")                                                   \
    X(FN, "f", 0, NOTHING, "below the function reference count")                                   \
    X(SHAPE, "s", 0, NOTHING, "below the shape count")                                             \
    X(PHASE, "p", 0, NOTHING, "0 onEntry, 1 onSuccess, 2 onFailure, 3 onAlways")                   \
    X(IMMX, "#", 0, NOTHING, "any 32-bit number")                                                  \
    X(KX, "k", 0, NOTHING, "below the constant count")                                             \
    X(PATHX, "p", 0, NOTHING, "below the path count")                                              \
    X(JUMPX, "@", 0, NOTHING, "an instruction of the code section")                                \
    X(REGEXX, "g", 0, NOTHING, "below the pattern count")                                          \
    X(FLOWX, "flow", 0, NOTHING, "below the Flow count")                                           \
    X(STEPX, "step", 0, NOTHING, "below the Step count")                                           \
    X(ENTRYX, "entry", 0, NOTHING, "below the entry count")                                        \
    X(CALLX, "call", 0, NOTHING, "below the call count")                                           \
    X(GATHERX, "gather", 0, NOTHING, "below the Gather count")

/* Flags: name, bit, letter and text on the reference page.
 *
 * LENDS: without it, what an instruction leaves in a register stands by itself. FAULTS: without it,
 * the assembler lays no handler around it. Running out of memory or fuel is not a fault: it ends
 * the run, not the expression. */
#define MWL_OP_FLAGS(X)                                                                            \
    X(END, 0, "E", "control never reaches the next instruction from here")                         \
    X(LOOP, 1, "L", "a jump back, which charges fuel")                                             \
    X(FAULTS, 2, "F", "it can raise a fault, which goes to the handler of its place")              \
    X(LENDS, 3, "B",                                                                               \
      "what it leaves in a register may be borrowed from where an operand's value is")             \
    X(RAISED, 4, "R",                                                                              \
      "it takes the failure that a construct's handler made; only that leads here")                \
    X(TABLE, 5, "T", "only the machine leads here, by the tables")                                 \
    X(NEEDS_VALUE, 6, "I", "it takes the value in flight, which must be there")                    \
    X(LEAVES_VALUE, 7, "O", "the instruction after it finds a value in flight")                    \
    X(NEEDS_RESULT, 8, "N", "a Result must be there")                                              \
    X(LEAVES_RESULT, 9, "S", "the instruction after it finds a Result")
enum {
#define X(name, bit, letter, text) MWL_OPF_##name = 1 << (bit),
    MWL_OP_FLAGS(X)
#undef X
        MWL_OPF_NONE = 0
};

/* The groups of the reference page: the first opcode of each, and its title. */
#define MWL_OP_GROUPS(X)                                                                           \
    X(NOP, "Loading")                                                                              \
    X(NEW_LIST, "Construction")                                                                    \
    X(ADD, "Arithmetic and comparison")                                                            \
    X(CALL_FN, "Functions")                                                                        \
    X(JUMP, "Control inside an expression")                                                        \
    X(STEP, "Steps")                                                                               \
    X(ENTER, "Middleware entries")                                                                 \
    X(CALL, "Calls")                                                                               \
    X(GATHER, "Gather")

/* X(NAME, a, b, c, flags, "meaning") */
#define MWL_OPCODES(X)                                                                             \
    /* -- loading -------------------------------------------------------------------------- */    \
    X(NOP, NONE, NONE, NONE, 0, "nothing")                                                         \
    X(MOVE, OUT, REG, NONE, MWL_OPF_LENDS, "ra := rb")                                             \
    X(TAKE, OUT, TAKEN, NONE, MWL_OPF_LENDS, "ra := rb")                                           \
    X(LOAD_K, OUT, KX, NONE, 0, "ra := constant")                                                  \
    X(LOAD_INT, OUT, IMMX, NONE, 0, "ra := the signed 32-bit number as an int")                    \
    X(LOAD_PATH, OUT, PATHX, NONE, MWL_OPF_FAULTS,                                                 \
      "ra := the value at the path; fault if a key is absent")                                     \
    X(HAS_PATH, OUT, PATHX, NONE, MWL_OPF_FAULTS,                                                  \
      "ra := is the path's last key there; fault if an earlier is not")                            \
    X(OPT_PATH, OUT, PATHX, NONE, MWL_OPF_FAULTS,                                                  \
      "ra := optional of the value at the path's last key")                                        \
    X(SELECT, OUT, REG, KEY, MWL_OPF_FAULTS | MWL_OPF_LENDS,                                       \
      "ra := rb.k; fault if the key is absent")                                                    \
    X(SELECT_OPT, OUT, REG, KEY, MWL_OPF_FAULTS, "ra := rb.?k")                                    \
    X(HAS, OUT, REG, KEY, MWL_OPF_FAULTS, "ra := has(rb.k)")                                       \
    X(INDEX, OUT, REG, REG, MWL_OPF_FAULTS | MWL_OPF_LENDS, "ra := rb[rc]")                        \
    X(INDEX_OPT, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb[?rc]")                                   \
    /* -- construction ---------------------------------------------------------------------- */   \
    X(NEW_LIST, OUT, IMMX, NONE, 0, "ra := [] with room")                                          \
    X(NEW_LIST_LIKE, OUT, REG, NONE, 0, "ra := [] with room for as many as rb has")                \
    X(LIST_PUSH, INOUT, TAKEN, NONE, MWL_OPF_FAULTS, "ra := ra + [rb]")                            \
    X(LIST_PUSH_OPT, INOUT, TAKEN, NONE, MWL_OPF_FAULTS | MWL_OPF_LENDS,                           \
      "appends what the optional rb holds, if anything")                                           \
    X(LIST_OF, OUT, TAKENS, IMM, MWL_OPF_FAULTS, "ra := [rb, ... c elements]")                     \
    X(NEW_MAP, OUT, IMMX, NONE, 0, "ra := {} with room")                                           \
    X(MAP_PUT, INOUT, TAKEN, TAKEN, MWL_OPF_FAULTS,                                                \
      "ra[rb] := rc; fault if the key is there or no key kind")                                    \
    X(MAP_PUT_OPT, INOUT, TAKEN, TAKEN, MWL_OPF_FAULTS | MWL_OPF_LENDS,                            \
      "ra[rb] := what the optional rc holds, if anything")                                         \
    X(MAP_OF, OUT, TAKENS, SHAPE, MWL_OPF_FAULTS, "ra := the shape's keys with the values rb ...") \
    X(MAP_MERGE, INOUT, REG, NONE, MWL_OPF_FAULTS | MWL_OPF_LENDS,                                 \
      "adds the members of the map rb to ra; fault if a key is there")                             \
    /* -- arithmetic and comparison --------------------------------------------------------- */   \
    X(ADD, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb + rc")                                         \
    X(CONCAT, OUT, TAKENS, IMM, MWL_OPF_FAULTS, "ra := rb + ... c of them, which must be strings") \
    X(SUB, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb - rc")                                         \
    X(MUL, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb * rc")                                         \
    X(DIV, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb / rc")                                         \
    X(MOD, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb % rc")                                         \
    X(NEG, OUT, REG, NONE, MWL_OPF_FAULTS, "ra := -rb")                                            \
    X(NOT, OUT, REG, NONE, MWL_OPF_FAULTS, "ra := !rb")                                            \
    X(EQ, OUT, REG, REG, 0, "ra := rb == rc")                                                      \
    X(NE, OUT, REG, REG, 0, "ra := rb != rc")                                                      \
    X(LT, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb < rc")                                          \
    X(LE, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb <= rc")                                         \
    X(GT, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb > rc")                                          \
    X(GE, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb >= rc")                                         \
    X(IN, OUT, REG, REG, MWL_OPF_FAULTS, "ra := rb in rc")                                         \
    X(ADD_K, OUT, REG, K, MWL_OPF_FAULTS, "ra := rb + k")                                          \
    X(SUB_K, OUT, REG, K, MWL_OPF_FAULTS, "ra := rb - k")                                          \
    X(MUL_K, OUT, REG, K, MWL_OPF_FAULTS, "ra := rb * k")                                          \
    X(EQ_K, OUT, REG, K, 0, "ra := rb == k")                                                       \
    X(NE_K, OUT, REG, K, 0, "ra := rb != k")                                                       \
    X(LT_K, OUT, REG, K, MWL_OPF_FAULTS, "ra := rb < k")                                           \
    X(LE_K, OUT, REG, K, MWL_OPF_FAULTS, "ra := rb <= k")                                          \
    X(GT_K, OUT, REG, K, MWL_OPF_FAULTS, "ra := rb > k")                                           \
    X(GE_K, OUT, REG, K, MWL_OPF_FAULTS, "ra := rb >= k")                                          \
    /* -- functions -------------------------------------------------------------------------- */  \
    X(CALL_FN, OUT, TAKENS, FN, MWL_OPF_FAULTS,                                                    \
      "ra := f(rb ...): the reference gives the argument count")                                   \
    X(MATCH, INOUT, REGEXX, NONE, MWL_OPF_FAULTS, "ra := ra matches the pattern")                  \
    X(DATA, INOUT, NONE, NONE, MWL_OPF_FAULTS | MWL_OPF_LENDS,                                     \
      "ra := ra as a data model value; System.UnrepresentableValue")                               \
    /* -- control inside an expression ------------------------------------------------------- */  \
    X(JUMP, NONE, JUMPX, NONE, MWL_OPF_END, "go there")                                            \
    X(JUMP_IF, REG, JUMPX, NONE, MWL_OPF_FAULTS, "go there if ra is true; fault unless a bool")    \
    X(JUMP_UNLESS, REG, JUMPX, NONE, MWL_OPF_FAULTS,                                               \
      "go there if ra is false; fault unless a bool")                                              \
    X(AND_TEST, REG, JUMPX, NONE, 0, "go there if ra is false; anything else goes on")             \
    X(OR_TEST, REG, JUMPX, NONE, 0, "go there if ra is true; anything else goes on")               \
    X(AND, OUT, REG, REG, 0,                                                                       \
      "ra := rb && rc, either may be a fault; a fault that remains is kept")                       \
    X(OR, OUT, REG, REG, 0, "ra := rb || rc, either may be a fault; a fault that remains is kept") \
    X(AND_END, OUT, REG, REG, MWL_OPF_FAULTS, "as AND, and a fault that remains is raised")        \
    X(OR_END, OUT, REG, REG, MWL_OPF_FAULTS, "as OR, and a fault that remains is raised")          \
    X(RAISE_IF, REG, NONE, NONE, MWL_OPF_FAULTS, "raise the fault in ra, if it is one")            \
    X(ITER, ITER, REG, NONE, MWL_OPF_FAULTS | MWL_OPF_LENDS,                                       \
      "ra.. := iterator over the list or map rb: uses ra to ra+3")                                 \
    X(NEXT, ITER, JUMPX, NONE, MWL_OPF_LOOP | MWL_OPF_FAULTS | MWL_OPF_LENDS,                      \
      "ra+2 := next element (of a map: key), and go there; at the end go on")                      \
    X(NEXT2, ITER, JUMPX, NONE, MWL_OPF_LOOP | MWL_OPF_FAULTS | MWL_OPF_LENDS,                     \
      "ra+2, ra+3 := next index or key, and element, and go there; at the end go on")              \
    X(OPT_TEST, REG, JUMPX, NONE, MWL_OPF_FAULTS,                                                  \
      "go there if the optional ra has no value; fault unless an optional")                        \
    X(OPT_GET, OUT, REG, NONE, MWL_OPF_FAULTS | MWL_OPF_LENDS,                                     \
      "ra := what the optional rb holds; fault when none")                                         \
    X(OPT_OF, OUT, TAKEN, NONE, MWL_OPF_FAULTS, "ra := optional.of(rb)")                           \
    X(END, TAKEN, NONE, NONE, MWL_OPF_END, "the expression's product is ra")                       \
    MWL_MACHINE_OPCODES(X)

/* The machine's own. "In flight" is the value that a transition or a descent carries; `res` the
 * Result that rises. The handler of a construct makes a failure of the fault and leaves it
 * as the VM's `raised`; the *_FAULT instructions take it from there. */
#define MWL_MACHINE_OPCODES(X)                                                                     \
    /* -- Steps ------------------------------------------------------------------------------ */  \
    X(STEP, NONE, STEPX, NONE, MWL_OPF_NEEDS_VALUE, "the Step begins: step.input := in flight")    \
    X(STEP_EXIT, NONE, NONE, NONE, 0, "record the Step's exit instant")                            \
    X(OUT, TAKEN, NONE, NONE, MWL_OPF_LEAVES_VALUE, "in flight := ra")                             \
    X(PASS_INPUT, NONE, NONE, NONE, MWL_OPF_LEAVES_VALUE, "in flight := step.input")               \
    X(ASSIGN, TAKENS, SHAPE, NONE, 0, "vars := vars with the shape's names bound to ra ...")       \
    X(TO, NONE, STEPX, NONE, MWL_OPF_END | MWL_OPF_NEEDS_VALUE,                                    \
      "the Step succeeded: clear failure, go to the next Step")                                    \
    X(TO_HANDLER, NONE, STEPX, NONE, MWL_OPF_END | MWL_OPF_NEEDS_VALUE,                            \
      "a catch clause's edge: failure stays set")                                                  \
    X(STEP_RESULT, NONE, STEPX, NONE, MWL_OPF_NEEDS_RESULT | MWL_OPF_LEAVES_VALUE,                 \
      "step.result := res; in flight := its value, or catch")                                      \
    X(STEP_FAULT, NONE, STEPX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                                 \
      "raised is the Step's Result: catch, or out")                                                \
    X(CLAUSE_FAULT, NONE, STEPX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                               \
      "raised in a clause: out, not matched again")                                                \
    X(MATCH_INPUT, NONE, NONE, NONE, MWL_OPF_NEEDS_VALUE | MWL_OPF_LEAVES_RESULT,                  \
      "match.input := in flight")                                                                  \
    X(PASS_MATCH, NONE, NONE, NONE, MWL_OPF_NEEDS_RESULT | MWL_OPF_LEAVES_VALUE,                   \
      "in flight := match.input")                                                                  \
    X(SLEEP_FOR, REG, NONE, NONE, MWL_OPF_FAULTS,                                                  \
      "wait until the Step's entry plus the duration ra")                                          \
    X(SLEEP_UNTIL, REG, NONE, NONE, MWL_OPF_FAULTS, "wait until the instant ra")                   \
    X(RETURN, NONE, NONE, NONE, MWL_OPF_END | MWL_OPF_NEEDS_VALUE,                                 \
      "res := success of what is in flight; ascend")                                               \
    X(RAISE, REGS, SHAPE, NONE, MWL_OPF_END | MWL_OPF_FAULTS,                                      \
      "res := failure of the shape's fields ra ...; ascend")                                       \
    X(RERAISE, NONE, NONE, NONE, MWL_OPF_END,                                                      \
      "res := the active failure, or System.EmptyRaise; ascend")                                   \
    X(COMPLETE, NONE, FLOWX, NONE, MWL_OPF_END | MWL_OPF_NEEDS_RESULT,                             \
      "the frame completes with res")                                                              \
    /* -- middleware entries ------------------------------------------------------------------ */ \
    X(ENTER, NONE, ENTRYX, NONE, MWL_OPF_NEEDS_VALUE,                                              \
      "push an entry record; onEntry begins with what is in flight")                               \
    X(GATE, REG, JUMPX, NONE, MWL_OPF_FAULTS,                                                      \
      "go there, the action gated off, if ra is false; fault unless a bool")                       \
    X(WITH, TAKEN, NONE, NONE, 0, "the phase's arguments := ra")                                   \
    X(ACTION, PHASE, ENTRYX, NONE, MWL_OPF_FAULTS,                                                 \
      "check the arguments, run the middleware's action")                                          \
    X(ACTION_DONE, PHASE, ENTRYX, NONE, MWL_OPF_END | MWL_OPF_NEEDS_RESULT,                        \
      "the action's own call has emitted res")                                                     \
    X(ESTABLISH, NONE, ENTRYX, NONE, MWL_OPF_LEAVES_VALUE,                                         \
      "onEntry is done: the entry is established, its product in flight")                          \
    X(ENTRY_FAULT, NONE, ENTRYX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                               \
      "raised on the descent: pop, rise from here")                                                \
    X(ASCEND, NONE, ENTRYX, NONE, MWL_OPF_END | MWL_OPF_NEEDS_RESULT,                              \
      "res is accepted at the entry: onSuccess or onFailure")                                      \
    X(SHAPE_SKIP, NONE, JUMPX, NONE, 0,                                                            \
      "go there if the Result is consumed and shaping has no destination")                         \
    X(SHAPE, TAKEN, NONE, NONE, 0, "the success value the entry emits or carries := ra")           \
    X(ENVELOPE, REGS, SHAPE, NONE, MWL_OPF_FAULTS,                                                 \
      "construct a successor failure from the shape's fields ra ...")                              \
    X(PHASE_FAULT, NONE, ENTRYX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                               \
      "raised in onSuccess or onFailure: supersede, onAlways")                                     \
    X(REENTER, NONE, ENTRYX, NONE, MWL_OPF_END,                                                    \
      "back into the inner scope if the action decided so, else onAlways")                         \
    X(ALWAYS, NONE, ENTRYX, NONE, MWL_OPF_TABLE, "onAlways begins")                                \
    X(ALWAYS_FAULT, NONE, ENTRYX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                              \
      "raised in onAlways: supersede, then leave")                                                 \
    X(UNWIND, NONE, ENTRYX, NONE, MWL_OPF_LEAVES_RESULT,                                           \
      "pop the entry; go on rising, or on unwinding")                                              \
    /* -- calls --------------------------------------------------------------------------------*/ \
    X(CALL, NONE, CALLX, NONE, MWL_OPF_NEEDS_VALUE, "a call begins: call.input := in flight")      \
    X(CALL_INPUT, TAKEN, NONE, NONE, 0, "what the target receives := ra")                          \
    X(CALL_WITH, TAKEN, NONE, NONE, 0, "the target's arguments := ra")                             \
    X(DISPATCH, NONE, CALLX, NONE, MWL_OPF_FAULTS | MWL_OPF_LEAVES_RESULT,                         \
      "check the arguments, run the target; res is there afterwards")                              \
    X(ARMS, NONE, CALLX, NONE, MWL_OPF_END | MWL_OPF_NEEDS_RESULT,                                 \
      "go to the arm that res selects")                                                            \
    X(ARM_VALUE, TAKEN, NONE, NONE, 0, "the call's success value := ra")                           \
    X(CALL_FAULT, NONE, CALLX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                                 \
      "raised in the call's fields: it is the call's Result")                                      \
    X(ARM_FAULT, NONE, CALLX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                                  \
      "raised in an arm: supersedes the call's Result")                                            \
    X(CALL_END, NONE, CALLX, NONE, MWL_OPF_NEEDS_RESULT | MWL_OPF_LEAVES_RESULT,                   \
      "the call has emitted res")                                                                  \
    /* -- Gather -------------------------------------------------------------------------------   \
     */                                                                                            \
    X(GATHER, NONE, GATHERX, NONE, 0, "the fan-out begins")                                        \
    X(GATHER_OVER, REG, NONE, NONE, MWL_OPF_FAULTS, "enumerate the array ra")                      \
    X(GATHER_NEED, REG, NONE, NONE, MWL_OPF_FAULTS, "completion.successes := ra")                  \
    X(GATHER_RUN, NONE, GATHERX, NONE, MWL_OPF_END,                                                \
      "start a dispatch, wait for one, or go to the arms")                                         \
    X(GATHER_ARMS, NONE, GATHERX, NONE, MWL_OPF_END | MWL_OPF_TABLE,                               \
      "run the next dispatch's arm, or go to the end")                                             \
    X(GATHER_FAULT, NONE, GATHERX, NONE, MWL_OPF_END | MWL_OPF_RAISED,                             \
      "raised in over or successes: resolve all, then fail")                                       \
    X(GATHER_END, NONE, GATHERX, NONE, MWL_OPF_TABLE | MWL_OPF_LEAVES_VALUE,                       \
      "determine the outcome: in flight := the successes' values, or catch")

#endif
