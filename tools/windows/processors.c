/* processors.c: how many processors this process may use. See posix.h. */
#include <windows.h>

static unsigned processors(void) {
    DWORD_PTR ours = 0, all = 0;
    unsigned n = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &all))
        for (; ours; ours &= ours - 1) n++;
    return n ? n : 1;
}

int sched_getaffinity(int process, size_t size, cpu_set_t *out) {
    (void)process;
    (void)size;
    out->n = processors();
    return 0;
}

long sysconf(int name) { return name == _SC_NPROCESSORS_ONLN ? (long)processors() : -1; }
