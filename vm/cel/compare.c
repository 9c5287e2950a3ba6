/* compare.c: equality, order, membership and the logic that absorbs faults.
 *
 * Owns: how operators compare; value.c has the walks. Values of different types are not equal, but
 * numbers of different types compare by value. There is no overload for order between other
 * types. */
#include "vm/cel/ops.h"

bool mwl__compare_equal(mwl__exec *x, mwl_value a, mwl_value b, bool *out) {
    int fast = mwl__equal_fast(a, b);
    if (fast >= 0) {
        *out = fast != 0;
        return true;
    }
    uint64_t lent = 0, left;
    mwl_status status;
    do {
        left = lent = mwl__exec_lend(x, lent);
        status = mwl__value_equal(a, b, &left, out);
    } while (mwl__exec_again(x, lent - left, status));
    if (status == MWL_OK) return true;
    x->halt = MWL_EXEC_FUEL;
    return false;
}

static const char *const relation_text[] = {"<", "<=", ">", ">="};

bool mwl__compare_order(mwl__exec *x, mwl__relation r, mwl_value a, mwl_value b, bool *out) {
    int order;
    uint32_t kind = mwl_value_kind(a);
    if (kind == mwl_value_kind(b) && (kind == MWL_KIND_STRING || kind == MWL_KIND_BYTES)) {
        size_t len_a = mwl__as_str(a)->len, len_b = mwl__as_str(b)->len;
        if (!mwl__exec_charge(x, (len_a < len_b ? len_a : len_b) / 64)) {
            x->halt = MWL_EXEC_FUEL;
            return false;
        }
    }
    if (!mwl__value_order(a, b, &order)) return mwl__arith_no_overload(x, relation_text[r], a, b);
    switch (r) { /* order 2 is unordered: every comparison with NaN is false */
    case MWL_LT: *out = order == -1; break;
    case MWL_LE: *out = order == -1 || order == 0; break;
    case MWL_GT: *out = order == 1; break;
    default: *out = order == 1 || order == 0; break;
    }
    return true;
}

bool mwl__compare_in(mwl__exec *x, mwl_value item, mwl_value container, bool *out) {
    if (mwl_value_kind(container) == MWL_KIND_OBJECT) {
        *out = mwl__map_find(container, item) != NULL;
        return true;
    }
    if (mwl_value_kind(container) != MWL_KIND_ARRAY)
        return mwl__arith_no_overload(x, "in", item, container);
    *out = false;
    if (!mwl__exec_charge(x, container.aux / 8)) {
        x->halt = MWL_EXEC_FUEL;
        return false;
    }
    const mwl_value *items = mwl__as_list(container)->item;
    for (uint32_t i = 0; i < container.aux && !*out; i++) {
        int fast = mwl__equal_fast(item, items[i]);
        *out = fast == 1;
        if (fast < 0 && !mwl__compare_equal(x, item, items[i], out)) return false;
    }
    return true;
}

/* spec: langdef, logical operators: && and || absorb a fault when the other side decides. */
bool mwl__compare_logic(mwl__exec *x, bool is_or, mwl_value a, mwl_value b, mwl_value *out) {
    bool bool_a = mwl_value_kind(a) == MWL_KIND_BOOL, bool_b = mwl_value_kind(b) == MWL_KIND_BOOL;
    if ((bool_a && mwl_as_bool(a) == is_or) || (bool_b && mwl_as_bool(b) == is_or)) {
        *out = mwl_bool(is_or);
        return true;
    }
    if (bool_a && bool_b) {
        *out = mwl_bool(!is_or);
        return true;
    }
    if (mwl_value_kind(a) == MWL_KIND_FAULT)
        *out = mwl__keep(a);
    else if (bool_a && mwl_value_kind(b) == MWL_KIND_FAULT)
        *out = mwl__keep(b);
    else {
        *out = mwl_absent();
        mwl__arith_no_overload(x, is_or ? "||" : "&&", a, b);
        if (x->halt != MWL_EXEC_FAULT) return false;
        x->halt = MWL_EXEC_END;
        *out = x->fault;
        x->fault = mwl_absent();
    }
    return false;
}
