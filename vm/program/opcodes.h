/* opcodes.h: the opcode table and the operand-kind table; nothing else.
 *
 * An instruction is eight bytes: op, a, b, c, each 16 bits. A kind that ends in X is 32 bits wide
 * and takes the places of b and c together (low half in b); it is written in the b column, with -
 * in c.
 *
 * Everything that must agree with these rows is made from them: the enum and names (op.h, op.c),
 * the disassembler's text, the verifier's operand checks, the interpreter's dispatch table,
 * OPCODES.md, the generated negative tests and the instruction-set number in an image's header. */
#ifndef MWL_OPCODES_H
#define MWL_OPCODES_H

/* Operand kinds: name, letter in listings, what bounds it. The bound is a count of the loaded
 * program, or a fixed number. */
#define MWL_OPERAND_KINDS(X)                                                                       \
    X(NONE, "", "zero")                                                                            \
    X(REG, "r", "below the program's register count")                                              \
    X(REGS, "r", "first of several registers, the last below the register count")                  \
    X(IMM, "#", "any 16-bit number")                                                               \
    X(K, "k", "below the constant count")                                                          \
    X(KEY, "k", "a string constant")                                                               \
    X(FN, "f", "below the function reference count")                                               \
    X(SHAPE, "s", "below the shape count")                                                         \
    X(PHASE, "p", "0 onEntry, 1 onSuccess, 2 onFailure, 3 onAlways")                               \
    X(IMMX, "#", "any 32-bit number")                                                              \
    X(KX, "k", "below the constant count")                                                         \
    X(PATHX, "p", "below the path count")                                                          \
    X(JUMPX, "@", "an instruction of the code section")                                            \
    X(REGEXX, "g", "below the pattern count")                                                      \
    X(FLOWX, "flow", "below the Flow count")                                                       \
    X(STEPX, "step", "below the Step count")                                                       \
    X(ENTRYX, "entry", "below the entry count")                                                    \
    X(CALLX, "call", "below the call count")                                                       \
    X(GATHERX, "gather", "below the Gather count")                                                 \
    X(CATCHX, "catch", "below the catch clause count")

/* How long a run of registers (REGS) is, another operand of the instruction says: SHAPE, as many as
 * the shape has keys; FN, as the function has arguments; IMM, that number. Without one of these it
 * is an iterator: four.
 *
 * Flags: END: control never falls through to the next instruction. LOOP: a back edge that charges
 * fuel. Every other jump and every handler goes forward, and the machine's instructions charge fuel
 * where they lead elsewhere: so no code runs for ever without paying. */
#define MWL_OPF_END 1u
#define MWL_OPF_LOOP 2u

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
    X(MOVE, REG, REG, NONE, 0, "ra := rb")                                                         \
    X(TAKE, REG, REG, NONE, 0, "ra := rb; rb := null: moves the count")                            \
    X(LOAD_K, REG, KX, NONE, 0, "ra := constant")                                                  \
    X(LOAD_INT, REG, IMMX, NONE, 0, "ra := the signed 32-bit number as an int")                    \
    X(LOAD_PATH, REG, PATHX, NONE, 0, "ra := the value at the path; fault if a key is absent")     \
    X(HAS_PATH, REG, PATHX, NONE, 0,                                                               \
      "ra := is the path's last key there; fault if an earlier is not")                            \
    X(OPT_PATH, REG, PATHX, NONE, 0, "ra := optional of the value at the path's last key")         \
    X(SELECT, REG, REG, KEY, 0, "ra := rb.k; fault if the key is absent")                          \
    X(SELECT_OPT, REG, REG, KEY, 0, "ra := rb.?k")                                                 \
    X(HAS, REG, REG, KEY, 0, "ra := has(rb.k)")                                                    \
    X(INDEX, REG, REG, REG, 0, "ra := rb[rc]")                                                     \
    X(INDEX_OPT, REG, REG, REG, 0, "ra := rb[?rc]")                                                \
    /* -- construction ---------------------------------------------------------------------- */   \
    X(NEW_LIST, REG, IMMX, NONE, 0, "ra := [] with room")                                          \
    X(NEW_LIST_LIKE, REG, REG, NONE, 0, "ra := [] with room for as many as rb has")                \
    X(LIST_PUSH, REG, REG, NONE, 0, "ra := ra + [rb]; takes rb")                                   \
    X(LIST_PUSH_OPT, REG, REG, NONE, 0,                                                            \
      "appends what the optional rb holds, if anything; takes rb")                                 \
    X(LIST_OF, REG, REGS, IMM, 0, "ra := [rb, ... c elements]; takes them")                        \
    X(NEW_MAP, REG, IMMX, NONE, 0, "ra := {} with room")                                           \
    X(MAP_PUT, REG, REG, REG, 0,                                                                   \
      "ra[rb] := rc; fault if the key is there or no key kind; takes both")                        \
    X(MAP_PUT_OPT, REG, REG, REG, 0,                                                               \
      "ra[rb] := what the optional rc holds, if anything; takes both")                             \
    X(MAP_OF, REG, REGS, SHAPE, 0, "ra := the shape's keys with the values rb ...; takes them")    \
    X(MAP_MERGE, REG, REG, NONE, 0,                                                                \
      "adds the members of the map rb to ra; fault if a key is there")                             \
    /* -- arithmetic and comparison --------------------------------------------------------- */   \
    X(ADD, REG, REG, REG, 0, "ra := rb + rc")                                                      \
    X(CONCAT, REG, REGS, IMM, 0, "ra := rb + ... c of them, which must be strings; takes them")    \
    X(SUB, REG, REG, REG, 0, "ra := rb - rc")                                                      \
    X(MUL, REG, REG, REG, 0, "ra := rb * rc")                                                      \
    X(DIV, REG, REG, REG, 0, "ra := rb / rc")                                                      \
    X(MOD, REG, REG, REG, 0, "ra := rb % rc")                                                      \
    X(NEG, REG, REG, NONE, 0, "ra := -rb")                                                         \
    X(NOT, REG, REG, NONE, 0, "ra := !rb")                                                         \
    X(EQ, REG, REG, REG, 0, "ra := rb == rc")                                                      \
    X(NE, REG, REG, REG, 0, "ra := rb != rc")                                                      \
    X(LT, REG, REG, REG, 0, "ra := rb < rc")                                                       \
    X(LE, REG, REG, REG, 0, "ra := rb <= rc")                                                      \
    X(GT, REG, REG, REG, 0, "ra := rb > rc")                                                       \
    X(GE, REG, REG, REG, 0, "ra := rb >= rc")                                                      \
    X(IN, REG, REG, REG, 0, "ra := rb in rc")                                                      \
    X(ADD_K, REG, REG, K, 0, "ra := rb + k")                                                       \
    X(SUB_K, REG, REG, K, 0, "ra := rb - k")                                                       \
    X(MUL_K, REG, REG, K, 0, "ra := rb * k")                                                       \
    X(EQ_K, REG, REG, K, 0, "ra := rb == k")                                                       \
    X(NE_K, REG, REG, K, 0, "ra := rb != k")                                                       \
    X(LT_K, REG, REG, K, 0, "ra := rb < k")                                                        \
    X(LE_K, REG, REG, K, 0, "ra := rb <= k")                                                       \
    X(GT_K, REG, REG, K, 0, "ra := rb > k")                                                        \
    X(GE_K, REG, REG, K, 0, "ra := rb >= k")                                                       \
    /* -- functions -------------------------------------------------------------------------- */  \
    X(CALL_FN, REG, REGS, FN, 0,                                                                   \
      "ra := f(rb ...): the reference gives the argument count; takes them")                       \
    X(MATCH, REG, REGEXX, NONE, 0, "ra := ra matches the pattern")                                 \
    X(DATA, REG, NONE, NONE, 0, "ra := ra as a data model value; System.UnrepresentableValue")     \
    /* -- control inside an expression ------------------------------------------------------- */  \
    X(JUMP, NONE, JUMPX, NONE, MWL_OPF_END, "go there")                                            \
    X(JUMP_IF, REG, JUMPX, NONE, 0, "go there if ra is true; fault unless a bool")                 \
    X(JUMP_UNLESS, REG, JUMPX, NONE, 0, "go there if ra is false; fault unless a bool")            \
    X(AND_TEST, REG, JUMPX, NONE, 0, "go there if ra is false; anything else goes on")             \
    X(OR_TEST, REG, JUMPX, NONE, 0, "go there if ra is true; anything else goes on")               \
    X(AND, REG, REG, REG, 0,                                                                       \
      "ra := rb && rc, either may be a fault; a fault that remains is kept")                       \
    X(OR, REG, REG, REG, 0, "ra := rb || rc, either may be a fault; a fault that remains is kept") \
    X(AND_END, REG, REG, REG, 0, "as AND, and a fault that remains is raised")                     \
    X(OR_END, REG, REG, REG, 0, "as OR, and a fault that remains is raised")                       \
    X(RAISE_IF, REG, NONE, NONE, 0, "raise the fault in ra, if it is one")                         \
    X(ITER, REGS, REG, NONE, 0, "ra.. := iterator over the list or map rb: uses ra to ra+3")       \
    X(NEXT, REGS, JUMPX, NONE, MWL_OPF_LOOP,                                                       \
      "ra+2 := next element (of a map: key), and go there; at the end go on")                      \
    X(NEXT2, REGS, JUMPX, NONE, MWL_OPF_LOOP,                                                      \
      "ra+2, ra+3 := next index or key, and element, and go there; at the end go on")              \
    X(OPT_TEST, REG, JUMPX, NONE, 0,                                                               \
      "go there if the optional ra is none; fault unless an optional")                             \
    X(OPT_GET, REG, REG, NONE, 0, "ra := what the optional rb holds; fault when none")             \
    X(OPT_OF, REG, REG, NONE, 0, "ra := optional.of(rb); takes rb")                                \
    X(END, REG, NONE, NONE, MWL_OPF_END, "the expression's product is ra")                         \
    MWL_MACHINE_OPCODES(X)

/* The machine's own. "In flight" is the value that a transition or a descent carries; `res` the
 * Result that rises. A site handler leaves the failure it made as the frame's `raised`; *_FAULT
 * take it from there. */
#define MWL_MACHINE_OPCODES(X)                                                                     \
    /* -- Steps ------------------------------------------------------------------------------ */  \
    X(STEP, NONE, STEPX, NONE, 0, "the Step begins: step.input := in flight")                      \
    X(STEP_EXIT, NONE, NONE, NONE, 0, "record the Step's exit instant")                            \
    X(OUT, REG, NONE, NONE, 0, "in flight := ra")                                                  \
    X(PASS_INPUT, NONE, NONE, NONE, 0, "in flight := step.input")                                  \
    X(ASSIGN, REGS, SHAPE, NONE, 0, "vars := vars with the shape's names bound to ra ...")         \
    X(TO, NONE, STEPX, NONE, MWL_OPF_END,                                                          \
      "the Step succeeded: clear failure, go to the next Step")                                    \
    X(TO_HANDLER, NONE, STEPX, NONE, MWL_OPF_END, "a catch clause's edge: failure stays set")      \
    X(STEP_RESULT, NONE, STEPX, NONE, 0, "step.result := res; in flight := its value, or catch")   \
    X(STEP_FAULT, NONE, STEPX, NONE, MWL_OPF_END, "raised is the Step's Result: catch, or out")    \
    X(CLAUSE_FAULT, NONE, STEPX, NONE, MWL_OPF_END, "raised in a clause: out, not matched again")  \
    X(MATCH_INPUT, NONE, NONE, NONE, 0, "match.input := in flight")                                \
    X(PASS_MATCH, NONE, NONE, NONE, 0, "in flight := match.input")                                 \
    X(SLEEP_FOR, REG, NONE, NONE, 0, "wait until the Step's entry plus the duration ra")           \
    X(SLEEP_UNTIL, REG, NONE, NONE, 0, "wait until the instant ra")                                \
    X(RETURN, NONE, NONE, NONE, MWL_OPF_END, "res := success of what is in flight; ascend")        \
    X(RAISE, REGS, SHAPE, NONE, MWL_OPF_END,                                                       \
      "res := failure of the shape's fields ra ...; ascend")                                       \
    X(RERAISE, NONE, NONE, NONE, MWL_OPF_END,                                                      \
      "res := the active failure, or System.EmptyRaise; ascend")                                   \
    X(COMPLETE, NONE, FLOWX, NONE, MWL_OPF_END, "the frame completes with res")                    \
    /* -- middleware entries ------------------------------------------------------------------ */ \
    X(ENTER, NONE, ENTRYX, NONE, 0, "push an entry record; onEntry begins with what is in flight") \
    X(GATE, REG, JUMPX, NONE, 0,                                                                   \
      "go there, the action gated off, if ra is false; fault unless a bool")                       \
    X(WITH, REG, NONE, NONE, 0, "the phase's arguments := ra")                                     \
    X(ACTION, PHASE, ENTRYX, NONE, 0, "check the arguments, run the middleware's action")          \
    X(ACTION_DONE, PHASE, ENTRYX, NONE, MWL_OPF_END, "the action's own call has emitted res")      \
    X(ESTABLISH, NONE, ENTRYX, NONE, 0,                                                            \
      "onEntry is done: the entry is established, its product in flight")                          \
    X(ENTRY_FAULT, NONE, ENTRYX, NONE, MWL_OPF_END, "raised on the descent: pop, rise from here")  \
    X(ASCEND, NONE, ENTRYX, NONE, MWL_OPF_END,                                                     \
      "res is accepted at the entry: onSuccess or onFailure")                                      \
    X(SHAPE_SKIP, NONE, JUMPX, NONE, 0,                                                            \
      "go there if the Result is consumed and shaping has no destination")                         \
    X(SHAPE, REG, NONE, NONE, 0, "the success value the entry emits or carries := ra")             \
    X(ENVELOPE, REGS, SHAPE, NONE, 0,                                                              \
      "construct a successor failure from the shape's fields ra ...")                              \
    X(PHASE_FAULT, NONE, ENTRYX, NONE, MWL_OPF_END,                                                \
      "raised in onSuccess or onFailure: supersede, onAlways")                                     \
    X(REENTER, NONE, ENTRYX, NONE, MWL_OPF_END,                                                    \
      "back into the inner scope if the action decided so, else onAlways")                         \
    X(ALWAYS, NONE, ENTRYX, NONE, 0, "onAlways begins")                                            \
    X(ALWAYS_FAULT, NONE, ENTRYX, NONE, MWL_OPF_END, "raised in onAlways: supersede, then leave")  \
    X(UNWIND, NONE, ENTRYX, NONE, 0, "pop the entry; go on rising, or on unwinding")               \
    /* -- calls --------------------------------------------------------------------------------*/ \
    X(CALL, NONE, CALLX, NONE, 0, "a call begins: call.input := in flight")                        \
    X(CALL_INPUT, REG, NONE, NONE, 0, "what the target receives := ra")                            \
    X(CALL_WITH, REG, NONE, NONE, 0, "the target's arguments := ra")                               \
    X(DISPATCH, NONE, CALLX, NONE, 0,                                                              \
      "check the arguments, run the target; res is there afterwards")                              \
    X(ARMS, NONE, CALLX, NONE, MWL_OPF_END, "go to the arm that res selects")                      \
    X(ARM_VALUE, REG, NONE, NONE, 0, "the call's success value := ra")                             \
    X(CALL_FAULT, NONE, CALLX, NONE, MWL_OPF_END,                                                  \
      "raised in the call's fields: it is the call's Result")                                      \
    X(ARM_FAULT, NONE, CALLX, NONE, MWL_OPF_END, "raised in an arm: supersedes the call's Result") \
    X(CALL_END, NONE, CALLX, NONE, 0, "the call has emitted res")                                  \
    /* -- Gather -------------------------------------------------------------------------------   \
     */                                                                                            \
    X(GATHER, NONE, GATHERX, NONE, 0, "the fan-out begins")                                        \
    X(GATHER_OVER, REG, NONE, NONE, 0, "enumerate the array ra")                                   \
    X(GATHER_NEED, REG, NONE, NONE, 0, "completion.successes := ra")                               \
    X(GATHER_RUN, NONE, GATHERX, NONE, MWL_OPF_END,                                                \
      "start a dispatch, wait for one, or go to the arms")                                         \
    X(GATHER_ARMS, NONE, GATHERX, NONE, MWL_OPF_END,                                               \
      "run the next dispatch's arm, or go to the end")                                             \
    X(GATHER_FAULT, NONE, GATHERX, NONE, MWL_OPF_END,                                              \
      "raised in over or successes: resolve all, then fail")                                       \
    X(GATHER_END, NONE, GATHERX, NONE, 0,                                                          \
      "determine the outcome: in flight := the successes' values, or catch")

#endif
