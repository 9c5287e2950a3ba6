/* Linked code and atoms: names are one string, bounds hold, the form is what it was made from. */
#include "assembler/emit/emit.h"
#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/cel/linked.h"
#include "vm/cel/linked_op.h"
#include "vm/machine/exec.h"
#include "vm/value/words.h"

#include <stdio.h>

/* ---- atoms ----------------------------------------------------------------------------------- */

static const mwl__str *atom(mwl_heap *h, const char *text, bool data) {
    return mwl__atom(h, text, strlen(text), mwl__str_hash(text, strlen(text)), data);
}

UTEST(atoms, a_name_is_one_string) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    char text[] = "granule";
    const mwl__str *a = atom(h, text, false);
    ASSERT_TRUE(a != NULL);
    EXPECT_STREQ(a->s, "granule");
    EXPECT_EQ(a->n_cp, 7u);
    text[0] = 'G'; /* the atom has a copy */
    EXPECT_TRUE(atom(h, "granule", true) == a);
    EXPECT_TRUE(mwl__as_str(mwl__key(h, "granule", 7)) == a);
    EXPECT_TRUE(atom(h, "message", false) == mwl__as_str(mwl__word_value(MWL_WORD_MESSAGE)));
    EXPECT_TRUE(atom(h, "", false) == atom(h, "", false));
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(atoms, data_takes_half_and_a_program_the_rest) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    unsigned n = 0;
    char name[32];
    for (unsigned i = 0; i < 3 * MWL__ATOMS; i++) {
        snprintf(name, sizeof name, "data%u", i);
        mwl_value key = mwl__key(h, name, strlen(name)); /* a name in any case */
        EXPECT_STREQ(mwl_as_text(key, NULL), name);
        n += (key.tag & MWL_HEAP) == 0;
        mwl__drop(h, key);
    }
    EXPECT_LE(n, MWL__ATOMS / 2);
    EXPECT_GT(n, MWL__ATOMS / 4);
    unsigned more = 0;
    for (unsigned i = 0; i < 3 * MWL__ATOMS; i++) {
        snprintf(name, sizeof name, "code%u", i);
        more += atom(h, name, false) != NULL;
    }
    EXPECT_GT(more, MWL__ATOMS / 4);
    EXPECT_LE(n + more, MWL__ATOMS);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* Names whose hashes are equal: few become atoms, and a search stays short. */
UTEST(atoms, equal_hashes_are_bounded) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    unsigned n = 0;
    char name[32];
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "name%u", i);
        n += mwl__atom(h, name, strlen(name), 77, false) != NULL;
    }
    EXPECT_LE(n, 8u);
    EXPECT_TRUE(atom(h, "this name is longer than those that are kept", false) == NULL);
    mwl_heap_free(h);
}

UTEST(atoms, out_of_memory_gives_an_ordinary_string_or_nothing) {
    for (unsigned long at = 1; at < 6; at++) {
        struct faulty memory = {0};
        mwl_alloc alloc = faulty_alloc(&memory);
        mwl_heap *h = NULL;
        ASSERT_EQ(mwl_heap_new(&alloc, &h), MWL_OK);
        memory.fail_at = memory.calls + at;
        mwl_value key = mwl__key(h, "name", 4);
        if (!mwl_is_absent(key)) EXPECT_STREQ(mwl_as_text(key, NULL), "name");
        mwl__drop(h, key);
        mwl_heap_free(h);
        EXPECT_EQ(memory.live_blocks, (size_t)0);
    }
}

/* ---- linked code ----------------------------------------------------------------------------- */

static mwl_program *program_of(const mwl_alloc *alloc) {
    mwl__emit *e = mwl__emit_new(alloc);
    uint32_t names[2] = {mwl__emit_string(e, "input", 5), mwl__emit_string(e, "id", 2)};
    mwl__emit_ax(e, MWL_OP_LOAD_PATH, 0, mwl__emit_path(e, MWL_BASE_ENV, names, 2));
    mwl__emit_ax(e, MWL_OP_HAS_PATH, 1, mwl__emit_path(e, MWL_BASE_ENV, names, 1));
    mwl__emit_ax(e, MWL_OP_LOAD_PATH, 2, mwl__emit_path(e, MWL_BASE_VARS, names, 1));
    mwl__emit_abc(e, MWL_OP_SELECT, 2, 2, names[1]);
    mwl__emit_abc(e, MWL_OP_MAP_OF, 0, 0, mwl__emit_shape(e, names, 2));
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    mwl__buf image = mwl__buf_make(*alloc);
    mwl_program *p = NULL;
    mwl_error error = {MWL_OK, "", 0};
    if (mwl__emit_finish(e, 0, &image) == MWL_OK)
        (void)mwl__program_load(alloc, image.data, image.len, true, &p, &error);
    mwl__buf_free(&image);
    mwl__emit_free(e);
    return p;
}

UTEST(linked, is_what_it_was_made_from) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_program *p = program_of(&alloc);
    ASSERT_TRUE(p != NULL);
    mwl__linked *l = mwl__linked_new(h, p, NULL, NULL);
    ASSERT_TRUE(l != NULL);
    EXPECT_TRUE(mwl__linked_check(l));
    EXPECT_EQ((uintptr_t)l->code[0].go, (uintptr_t)MWL_OP_LOAD_SLOT);
    EXPECT_EQ((uintptr_t)l->code[1].go, (uintptr_t)MWL_OP_HAS_SLOT);
    EXPECT_EQ((uintptr_t)l->code[2].go,
              (uintptr_t)MWL_OP_LOAD_PATH); /* no variable, so it has no slot */
    EXPECT_EQ((uintptr_t)l->code[3].go, (uintptr_t)MWL_OP_SELECT);
    EXPECT_EQ(l->code[3].b, 2 * sizeof(mwl_value));
    EXPECT_TRUE(mwl__linked_path_at(l, 0)->keys[0].name == atom(h, "input", true));
    EXPECT_TRUE(mwl__as_str(l->shapes[0].blank->keys->key[1]) == atom(h, "id", true));
    mwl__linked_free(h, l);
    mwl__program_release(p);
    mwl_heap_free(h);
}

/* With the interpreter's labels it is the same, and an opcode's label is what it says. */
UTEST(linked, has_the_labels_of_the_loop) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_program *p = program_of(&alloc);
    ASSERT_TRUE(p != NULL);
    mwl__linked *l = mwl__linked_new(h, p, NULL, mwl__exec_labels);
    ASSERT_TRUE(l != NULL);
    EXPECT_TRUE(mwl__linked_check(l));
    const void *const *labels = mwl__exec_labels();
    if (labels) EXPECT_TRUE(l->code[5].go == labels[MWL_OP_END]);
    mwl__linked_free(h, l);
    mwl__program_release(p);
    mwl_heap_free(h);
}

/* Whatever is changed in it, the check notices. */
UTEST(linked, the_check_notices_changes) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_program *p = program_of(&alloc);
    ASSERT_TRUE(p != NULL);
    mwl__linked *l = mwl__linked_new(h, p, NULL, NULL);
    ASSERT_TRUE(l != NULL);
    mwl__linked_ins *code = l->code;
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        const mwl__linked_ins was = code[pc];
        for (uintptr_t op = 0; op < MWL_OP_ALL + 3u; op++) {
            code[pc].go = (const void *)op;
            EXPECT_EQ(mwl__linked_check(l), code[pc].go == was.go || op == p->code[pc].op);
            code[pc] = was;
        }
        code[pc].a += 16;
        EXPECT_FALSE(mwl__linked_check(l));
        code[pc] = was;
        code[pc].x += 16;
        EXPECT_FALSE(mwl__linked_check(l));
        code[pc] = was;
    }
    mwl_value *k = (mwl_value *)(uintptr_t)&l->consts[0], was = *k;
    *k = l->consts[1];
    EXPECT_FALSE(mwl__linked_check(l));
    *k = was;
    mwl__linked_path *path = mwl__linked_path_at(l, 0);
    path->keys[0].name = path->keys[1].name;
    EXPECT_FALSE(mwl__linked_check(l));
    mwl__linked_free(h, l);
    mwl__program_release(p);
    mwl_heap_free(h);
}

UTEST_MAIN()
