/* menu.h: what a provider may answer, as `mwlvm explore` tries it.
 *
 * Owns: the list for each provider and Step. Successes: the values that scripted answers have for
 * it; else the examples of its document ("$defs": {"output": ...} in `parameters`); else values
 * made from that schema; else values made from what the definition reads and compares; else null.
 * Failures: every closed code of its catalog, one code of every open prefix, and what scripted
 * answers add; retryable and not, if the definition tells them apart. */
#ifndef MWL_TOOLS_EXPLORE_MENU_H
#define MWL_TOOLS_EXPLORE_MENU_H

#include "tools/host/testable.h"

struct menu_item {
    bool failure;
    mwl_value value; /* the success's value, or the failure; owned by the menus */
};

struct menu {
    uint32_t import, step; /* step MWL_NONE: of the Flow */
    bool cleanup;          /* of an onAlways */
    struct menu_item *items;
    size_t n_items, cap;
    const char *source; /* where the values of successes come from, for the report */
};

struct menus;

/* `answers` is lent and may be absent: the form of answers.h, by URI or Step. Its values belong to
 * the heap. NULL: out of memory. */
struct menus *menus_new(const struct testable *t, mwl_heap *heap, mwl_value answers);
void menus_free(struct menus *m);
/* The menu for calls with the import, step and cleanup of `key`. NULL: out of memory. */
const struct menu *menus_get(struct menus *m, const struct menu *key, const char *uri,
                             const char *flow_name, const char *step_name);
const struct menu *menus_at(const struct menus *m, size_t i); /* NULL behind the last */

/* Adds values that a JSON Schema allows: a least one, and one for each part that can be otherwise.
 * Takes over nothing. */
void menu_from_schema(mwl_heap *heap, mwl_value schema, struct menu *menu);
/* Adds values that have what the program reads of answers, with both sides of each comparison. */
void menu_from_reads(mwl_heap *heap, const mwl_program *program, struct menu *menu);
/* Adds an item; takes over the value. Equal ones are added once. */
void menu_add(mwl_heap *heap, struct menu *menu, bool failure, mwl_value take);

#endif
