/* fuzz_host.c: a host that does what it may at every moment it may; the input is its choices
 * (tests/api/random_host.h). */
#include "tests/api/random_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t none;
    rh_round((rh_source){size ? data : &none, size, 0}, NULL, NULL);
    return 0;
}
