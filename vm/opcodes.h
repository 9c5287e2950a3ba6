/* opcodes.h: the opcode table and the operand-kind table; nothing else.
 *
 * An instruction is eight bytes: op, a, b, c, each 16 bits. A kind that ends in X is 32 bits wide and
 * takes the places of b and c together (low half in b); it is written in the b column, with - in c.
 *
 * Everything that must agree with these rows is made from them: the enum and names (op.h, op.c), the
 * disassembler's text, the verifier's operand checks, the interpreter's dispatch table, OPCODES.md, the
 * generated negative tests and the instruction-set number in an image's header. */
#ifndef MWL_OPCODES_H
#define MWL_OPCODES_H

/* Operand kinds: name, letter in listings, what bounds it. The bound is a count of the loaded program,
 * or a fixed number. */
#define MWL_OPERAND_KINDS(X)                                                              \
    X(NONE, "", "must be zero")                                                           \
    X(REG, "r", "below the program's register count")                                     \
    X(REGS, "r", "first of several registers, the last below the register count")         \
    X(IMM, "#", "any 16-bit number")                                                      \
    X(K, "k", "below the constant count")                                                 \
    X(FN, "f", "below the function reference count")                                      \
    X(SHAPE, "s", "below the shape count")                                                \
    X(PHASE, "p", "0 onEntry, 1 onSuccess, 2 onFailure, 3 onAlways")                      \
    X(IMMX, "#", "any 32-bit number")                                                     \
    X(KX, "k", "below the constant count")                                                \
    X(PATHX, "p", "below the path count")                                                 \
    X(JUMPX, "@", "an instruction of the code section")                                   \
    X(REGEXX, "g", "below the pattern count")                                             \
    X(FLOWX, "flow", "below the Flow count")                                              \
    X(STEPX, "step", "below the Step count")                                              \
    X(ENTRYX, "entry", "below the entry count")                                           \
    X(CALLX, "call", "below the call count")                                              \
    X(GATHERX, "gather", "below the Gather count")                                        \
    X(CATCHX, "catch", "below the catch clause count")

/* Flags: END: control never falls through to the next instruction. LOOP: a back edge that charges fuel. */
#define MWL_OPF_END 1u
#define MWL_OPF_LOOP 2u

/* X(NAME, a, b, c, flags, "meaning") */
#define MWL_OPCODES(X)                                                                              \
    /* -- loading -------------------------------------------------------------------------- */   \
    X(NOP, NONE, NONE, NONE, 0, "nothing")                                                          \
    X(MOVE, REG, REG, NONE, 0, "ra := rb")                                                          \
    X(TAKE, REG, REG, NONE, 0, "ra := rb; rb := null: moves the count")                             \
    X(LOAD_K, REG, KX, NONE, 0, "ra := constant")                                                   \
    X(LOAD_INT, REG, IMMX, NONE, 0, "ra := the signed 32-bit number as an int")                     \
    X(LOAD_PATH, REG, PATHX, NONE, 0, "ra := the value at the path; fault if a key is absent")      \
    X(HAS_PATH, REG, PATHX, NONE, 0, "ra := is the path's last key there; fault if an earlier is not") \
    X(OPT_PATH, REG, PATHX, NONE, 0, "ra := optional of the value at the path's last key")          \
    X(SELECT, REG, REG, K, 0, "ra := rb.k; fault if the key is absent")                             \
    X(SELECT_OPT, REG, REG, K, 0, "ra := rb.?k")                                                    \
    X(HAS, REG, REG, K, 0, "ra := has(rb.k)")                                                       \
    X(INDEX, REG, REG, REG, 0, "ra := rb[rc]")                                                      \
    X(INDEX_OPT, REG, REG, REG, 0, "ra := rb[?rc]")                                                 \
    /* -- construction ---------------------------------------------------------------------- */  \
    X(NEW_LIST, REG, IMMX, NONE, 0, "ra := [] with room")                                           \
    X(LIST_PUSH, REG, REG, NONE, 0, "ra := ra + [rb]")                                              \
    X(LIST_PUSH_OPT, REG, REG, NONE, 0, "appends what the optional rb holds, if anything")          \
    X(LIST_OF, REG, REGS, IMM, 0, "ra := [rb, ... c elements]")                                     \
    X(NEW_MAP, REG, IMMX, NONE, 0, "ra := {} with room")                                            \
    X(MAP_PUT, REG, REG, REG, 0, "ra[rb] := rc; fault if the key is there or no key kind")          \
    X(MAP_PUT_OPT, REG, REG, REG, 0, "ra[rb] := what the optional rc holds, if anything")           \
    X(MAP_OF, REG, REGS, SHAPE, 0, "ra := the shape's keys with the values rb ...")                 \
    /* -- arithmetic and comparison --------------------------------------------------------- */  \
    X(ADD, REG, REG, REG, 0, "ra := rb + rc")                                                       \
    X(SUB, REG, REG, REG, 0, "ra := rb - rc")                                                       \
    X(MUL, REG, REG, REG, 0, "ra := rb * rc")                                                       \
    X(DIV, REG, REG, REG, 0, "ra := rb / rc")                                                       \
    X(MOD, REG, REG, REG, 0, "ra := rb % rc")                                                       \
    X(NEG, REG, REG, NONE, 0, "ra := -rb")                                                          \
    X(NOT, REG, REG, NONE, 0, "ra := !rb")                                                          \
    X(EQ, REG, REG, REG, 0, "ra := rb == rc")                                                       \
    X(NE, REG, REG, REG, 0, "ra := rb != rc")                                                       \
    X(LT, REG, REG, REG, 0, "ra := rb < rc")                                                        \
    X(LE, REG, REG, REG, 0, "ra := rb <= rc")                                                       \
    X(GT, REG, REG, REG, 0, "ra := rb > rc")                                                        \
    X(GE, REG, REG, REG, 0, "ra := rb >= rc")                                                       \
    X(IN, REG, REG, REG, 0, "ra := rb in rc")                                                       \
    X(ADD_K, REG, REG, K, 0, "ra := rb + k")                                                        \
    X(SUB_K, REG, REG, K, 0, "ra := rb - k")                                                        \
    X(MUL_K, REG, REG, K, 0, "ra := rb * k")                                                        \
    X(EQ_K, REG, REG, K, 0, "ra := rb == k")                                                        \
    X(NE_K, REG, REG, K, 0, "ra := rb != k")                                                        \
    X(LT_K, REG, REG, K, 0, "ra := rb < k")                                                         \
    X(LE_K, REG, REG, K, 0, "ra := rb <= k")                                                        \
    X(GT_K, REG, REG, K, 0, "ra := rb > k")                                                         \
    X(GE_K, REG, REG, K, 0, "ra := rb >= k")                                                        \
    /* -- functions -------------------------------------------------------------------------- */ \
    X(CALL_FN, REG, REGS, FN, 0, "ra := f(rb ...): the reference gives the argument count")         \
    X(MATCH, REG, REGEXX, NONE, 0, "ra := ra matches the pattern")                                  \
    X(DATA, REG, NONE, NONE, 0, "ra := ra as a data model value; System.UnrepresentableValue")      \
    /* -- control inside an expression ------------------------------------------------------- */ \
    X(JUMP, NONE, JUMPX, NONE, MWL_OPF_END, "go there")                                              \
    X(JUMP_IF, REG, JUMPX, NONE, 0, "go there if ra is true; fault unless a bool")                  \
    X(JUMP_UNLESS, REG, JUMPX, NONE, 0, "go there if ra is false; fault unless a bool")             \
    X(AND_TEST, REG, JUMPX, NONE, 0, "go there if ra is false; anything else goes on")              \
    X(OR_TEST, REG, JUMPX, NONE, 0, "go there if ra is true; anything else goes on")                \
    X(AND, REG, REG, REG, 0, "ra := rb && rc, either may be a fault; a fault that remains is kept") \
    X(OR, REG, REG, REG, 0, "ra := rb || rc, either may be a fault; a fault that remains is kept")  \
    X(RAISE_IF, REG, NONE, NONE, 0, "raise the fault in ra, if it is one")                          \
    X(ITER, REGS, REG, NONE, 0, "ra.. := iterator over the list or map rb: uses ra to ra+3")        \
    X(NEXT, REGS, JUMPX, NONE, MWL_OPF_LOOP, "ra+2 := next element (of a map: key), or go there")    \
    X(NEXT2, REGS, JUMPX, NONE, MWL_OPF_LOOP, "ra+2, ra+3 := next index or key, and element, or go there") \
    X(OPT_TEST, REG, JUMPX, NONE, 0, "go there if the optional ra is none; fault unless an optional") \
    X(OPT_GET, REG, REG, NONE, 0, "ra := what the optional rb holds; fault when none")              \
    X(END, REG, NONE, NONE, MWL_OPF_END, "the expression's product is ra")                           \
    MWL_MACHINE_OPCODES(X)

/* The machine's own: filled in with the Flow instructions. */
#define MWL_MACHINE_OPCODES(X)                                                                      \
    X(ENTER, NONE, ENTRYX, NONE, 0, "push an entry record; its onEntry phase begins")               \
    X(ASCEND, NONE, ENTRYX, NONE, 0, "the rising Result reaches the entry: select onSuccess or onFailure") \
    X(REENTER, NONE, ENTRYX, NONE, MWL_OPF_END, "go back to the entry's inner scope if its action decided so, else on to onAlways") \
    X(UNWIND, NONE, ENTRYX, NONE, MWL_OPF_END, "the entry's onAlways is done: pop it; go on ascending or unwinding")

#endif
