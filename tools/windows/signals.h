/* signals.h: what interrupt.c needs of signals.c. */
#ifndef MWL_TOOLS_WINDOWS_SIGNALS_H
#define MWL_TOOLS_WINDOWS_SIGNALS_H

#include <stdnoreturn.h>

/* Ends the process at once, as a signal without a handler does. */
noreturn void signals_end_by(int number);

#endif
