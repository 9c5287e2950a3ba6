/* store.c: what is the same for every store. */
#include "mwl_store.h"

const char *mwl_store_state_name(mwl_store_state state) {
    switch (state) {
#define MWL_X(name, text, number)                                                                  \
    case MWL_STORE_##name: return text;
        MWL_STORE_STATES(MWL_X)
#undef MWL_X
    }
    return "unknown";
}

const char *mwl_store_why(const mwl_store *s) { return s ? s->ops->why(s) : "out of memory"; }

void mwl_store_close(mwl_store *s) {
    if (s) s->ops->close(s);
}

int64_t mwl_store_clock(const mwl_store *s) { return s->ops->clock ? s->ops->clock(s) : 0; }

int64_t mwl_store_now(const mwl_store *s) {
    const mwl_clock clock = mwl_clock_system();
    mwl_instant now;
    int64_t base_ns = mwl_store_clock(s);
    clock.read(clock.ctx, &now);
    return base_ns ? now.mono_ns + base_ns : now.wall_ns;
}
