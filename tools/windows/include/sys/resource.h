/* sys/resource.h: Windows has none of these limits. */
#ifndef MWL_TOOLS_WINDOWS_RESOURCE_H
#define MWL_TOOLS_WINDOWS_RESOURCE_H

#define RLIMIT_NOFILE 7
typedef unsigned long long rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
static inline int getrlimit(int which, struct rlimit *out) {
    (void)which;
    out->rlim_cur = out->rlim_max = ~0ull;
    return 0;
}

#endif
