/* subject.h: a definition with the case that it is run in: checked, assembled, drawn, listed.
 *
 * Owns: the texts of one request, and which documents the definition may use: those of the case,
 * those of stdlib/io, and for the rest ones that allow everything. */
#ifndef MWL_PLAY_SUBJECT_H
#define MWL_PLAY_SUBJECT_H

#include "tools/host/definition_model.h"

struct subject {
    const char *name, *text; /* the definition; lent by the request */
    size_t len;
    mwl_heap *heap;
    mwl_value spec; /* the case or its answers, in `heap`; absent: there is none */
    struct definition_model model;
    bool read, drawable; /* the model was read, and has no errors */
    mwl_asm_provider *providers;
    size_t n_providers;
    mwl_asm_document *library; /* play_documents, and those that were made */
    mwl__buf diagnostics;      /* JSON */
    mwl__buf problems;         /* JSON objects with commas between them */
};

/* Reads and checks, into an empty subject. With a program, the definition is the one that the
 * program has in it, if it has one, and its diagnostics are left out. Returns MWL_OK,
 * MWL_E_REJECTED, or MWL_E_NOMEM. Free it in any case. The request and the program are lent until
 * then. */
mwl_status subject_read(struct subject *s, mwl_value request, const mwl_program *program);
/* Frees what it holds, and itself: it comes from subject_new(). NULL is ignored. The model has
 * pointers into itself, so a subject is never copied. */
void subject_free(struct subject *s);
/* Returns an empty one; NULL if out of memory. */
struct subject *subject_new(void);

/* "ok", "diagnostics" and "problems", as members of a reply. */
void subject_reply(const struct subject *s, mwl_status status, mwl__buf *out);
/* Adds a problem of another text than the definition: `offset` is where. */
void subject_problem(struct subject *s, const char *in, const char *message, const char *text,
                     size_t len, size_t offset);
/* Reads a text of the request that holds JSON into `heap`; absent if the request does not have it.
 * Returns MWL_OK, or a status with a problem. */
mwl_status subject_json(struct subject *s, mwl_value request, const char *name, mwl_heap *heap,
                        mwl_value *out);

/* A member of the case: "answers" (the case itself if it is the answers alone), "control" and so
 * on; absent if it has none. Lent. */
mwl_value subject_member(const struct subject *s, const char *name);
/* The document of a call provider, or NULL. Lent. */
const char *subject_document(const struct subject *s, const char *uri);

/* Assembles; the subject has no errors. *out as mwl_assemble() writes it; its diagnostics take the
 * place of those of the check if it is rejected. */
mwl_status subject_assemble(struct subject *s, unsigned flags, mwl_asm_result *out);

#endif
