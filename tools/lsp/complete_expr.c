/* complete_expr.c: completion inside expressions: roots, members, variables, functions, macros. See
 * complete.h. */
#include "tools/lsp/complete.h"

#include "tools/words/function_words.h"
#include "assembler/cel/cel_front.h"
#include "tools/lsp/paths.h"

#include <stdio.h>

struct around {
    struct items *list;
    bool root; /* roots are modules, what is below them are fields */
};

static void see_member(void *ctx, const struct path_member *m) {
    const struct around *a = ctx;
    char text[256];
    if (m->name_len >= sizeof text) return;
    snprintf(text, sizeof text, "%.*s", (int)m->name_len, m->name);
    const struct item item = {.kind = a->root ? ITEM_MODULE : ITEM_FIELD,
                              .label = m->name,
                              .label_len = m->name_len,
                              .text = text,
                              .words = m->text,
                              .words_len = m->text_len};
    items_add(a->list, &item);
}

/* Joins the path without its last name: "math." */
static bool join(const struct path *p, char *out, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i + 1 < p->n; i++) {
        if (n + p->lens[i] + 2 > size) return false;
        memcpy(out + n, p->names[i], p->lens[i]);
        n += p->lens[i];
        out[n++] = '.';
    }
    out[n] = '\0';
    return true;
}

/* `style`: which functions; `before`: the namespace in front of their names that is typed already
 */
static void add_functions(struct items *list, unsigned style, const char *before) {
    const mwl__functions *f = &list->s->functions;
    size_t skip = strlen(before);
    const char *last = "";
    for (size_t i = 0; i < f->n_defs; i++) {
        const mwl_function_def *def = f->defs[i];
        if (!(def->style & style) || strncmp(def->name, before, skip) != 0) continue;
        if (def->name[0] == '_' || def->name[0] == '@' || strcmp(def->name, last) == 0) continue;
        last = def->name;
        const char *name = def->name + skip;
        char text[128];
        snprintf(text, sizeof text, "%s($1)", name);
        const struct function_words *words = function_words_find(def->name, strlen(def->name));
        const struct item item = {.kind = ITEM_FUNCTION,
                                  .label = name,
                                  .label_len = strlen(name),
                                  .text = text,
                                  .detail = def->usage,
                                  .words = words ? words->text : NULL,
                                  .words_len = words ? strlen(words->text) : 0,
                                  .snippet = true};
        items_add(list, &item);
    }
}

static void add_macros(struct items *list, bool member) {
    const char *last = "";
    for (const mwl__cel_macro *m = mwl__cel_standard_macros; m->name; m++) {
        char text[128];
        bool plain = !m->member || m->name_space;
        if (plain == member || strcmp(m->name, last) == 0) continue;
        last = m->name;
        snprintf(text, sizeof text, "%s%s%s($1)", m->name_space ? m->name_space : "",
                 m->name_space ? "." : "", m->name);
        size_t len = strcspn(text, "(");
        const struct function_words *words = function_words_find(text, len);
        const struct item item = {.kind = ITEM_KEYWORD,
                                  .label = text,
                                  .label_len = len,
                                  .text = text,
                                  .detail = words && words->usage ? words->usage : "macro",
                                  .words = words ? words->text : NULL,
                                  .words_len = words ? strlen(words->text) : 0,
                                  .snippet = true};
        items_add(list, &item);
    }
}

void complete_expression(struct items *list, const struct outline_node *n, uint32_t at) {
    struct path path;
    char before[160];
    if (!path_at(n, at, &path)) return;
    list->begin = outline_text_offset(&list->d->outline, n, path.begin);
    list->end = outline_text_offset(&list->d->outline, n, at);
    struct around a = {list, path.n == 1};
    bool known = path_members(list->s, list->d, n, &path, see_member, &a);
    if (!path.member) {
        add_functions(list, MWL_FN_GLOBAL, "");
        add_macros(list, false);
        return;
    }
    size_t had = list->n;
    if (path.n > 1 && join(&path, before, sizeof before))
        add_functions(list, MWL_FN_GLOBAL, before);
    if (known || list->n > had) return;
    add_functions(list, MWL_FN_MEMBER, "");
    add_macros(list, true);
}
