/* outside.c: a program that knows mwlvm only as installed. */
#include <mwl.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    if (strcmp(mwl_version(), MWL_VERSION) != 0) return 1;
    mwl_alloc a = mwl_alloc_default();
    void *p = a.fn(a.ctx, NULL, 0, 16);
    if (!p) return 1;
    a.fn(a.ctx, p, 16, 0);
    printf("outside program with mwlvm %s: %s\n", mwl_version(), mwl_status_text(MWL_OK));
    return 0;
}
