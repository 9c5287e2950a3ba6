/* phase.h: the middleware contract: one callback of a middleware. mwl_provider.h has what the
 * callback may call. */
#ifndef MWL_PHASE_H
#define MWL_PHASE_H

#include "vm/machine/state.h"

/* spec: middleware-mechanics, the three kinds of actions. */
enum { MWL_ACTION_NONE, MWL_ACTION_SIDE_EFFECT, MWL_ACTION_CONTROL, MWL_ACTION_TRANSFORM };
/* Notes which verdicts a middleware may give: by the kinds of its actions at the four phases. */
void mwl__phase_allow(mwl__provider *p, const uint8_t kinds[4]);

/* The action of a phase; returns a pc (state.h). */
uint32_t mwl__phase_act(mwl__frame *f, mwl__entry *e, const mwl__provider *p, unsigned phase,
                        uint32_t next_pc);
/* The entry's bound has elapsed: the failure that explains it, given. Absent: out of memory. */
mwl_value mwl__phase_elapsed(mwl__frame *f, mwl__entry *e);

/* The entry's run was loaded: its middleware may take up what it holds outside. */
void mwl__phase_restore(mwl__frame *f, mwl__entry *e);

#endif
