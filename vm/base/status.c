/* status.c: the texts of the status list, and the library's version. */
#include "mwl.h"

const char *mwl_status_text(mwl_status status) {
    switch (status) {
#define X(name, number, text)                                                                      \
    case MWL_##name: return text;
        MWL_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *mwl_version(void) { return MWL_VERSION; }
uint32_t mwl_version_number(void) { return MWL_VERSION_NUMBER; }
