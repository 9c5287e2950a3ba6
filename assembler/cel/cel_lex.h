/* cel_lex.h: the tokens of CEL. See cel_lex.c and cel_literal.c. */
#ifndef MWL_CEL_LEX_H
#define MWL_CEL_LEX_H

#include "assembler/cel/cel_ast.h"

typedef enum mwl__cel_token_kind {
    MWL__CEL_T_END,
    MWL__CEL_T_BAD, /* not a token of CEL; `fault` is the reason */
    MWL__CEL_T_NAME,
    MWL__CEL_T_QUOTED, /* `a-b`, the back quotes in its span */
    MWL__CEL_T_INT,
    MWL__CEL_T_UINT,
    MWL__CEL_T_FLOAT,
    MWL__CEL_T_STRING,
    MWL__CEL_T_BYTES,
    MWL__CEL_T_TRUE,
    MWL__CEL_T_FALSE,
    MWL__CEL_T_NULL,
    MWL__CEL_T_IN,
    MWL__CEL_T_EQ,
    MWL__CEL_T_NE,
    MWL__CEL_T_LT,
    MWL__CEL_T_LE,
    MWL__CEL_T_GT,
    MWL__CEL_T_GE,
    MWL__CEL_T_AND,
    MWL__CEL_T_OR,
    MWL__CEL_T_LBRACKET,
    MWL__CEL_T_RBRACKET,
    MWL__CEL_T_LBRACE,
    MWL__CEL_T_RBRACE,
    MWL__CEL_T_LPAREN,
    MWL__CEL_T_RPAREN,
    MWL__CEL_T_DOT,
    MWL__CEL_T_COMMA,
    MWL__CEL_T_MINUS,
    MWL__CEL_T_NOT,
    MWL__CEL_T_QUESTION,
    MWL__CEL_T_COLON,
    MWL__CEL_T_PLUS,
    MWL__CEL_T_STAR,
    MWL__CEL_T_SLASH,
    MWL__CEL_T_PERCENT
} mwl__cel_token_kind;

typedef struct mwl__cel_token {
    mwl__cel_token_kind kind;
    uint32_t begin, end;
    const char *fault; /* BAD: constant text */
} mwl__cel_token;

/* Returns the token at or after `from`; END at the end of the source. A pure function: to look
 * ahead, call it again. */
mwl__cel_token mwl__cel_lex(const char *source, size_t len, uint32_t from);

/* Words that are not identifiers, although they may name fields and member functions. */
bool mwl__cel_is_reserved(const char *name, size_t len);

/* Why a literal has no value, and where. */
typedef struct mwl__cel_lit_fault {
    const char *message; /* constant */
    uint32_t begin, end;
} mwl__cel_lit_fault;

/* Reads the value of a literal token (INT .. NULL). `negative` means a minus before INT or FLOAT.
 * Returns MWL_OK, MWL_E_SYNTAX or MWL_E_RANGE with *fault, or MWL_E_NOMEM. */
mwl_status mwl__cel_literal(mwl__arena *arena, const char *source, const mwl__cel_token *token,
                            bool negative, mwl__cel_lit *lit, mwl__cel_lit_fault *fault);

#endif
