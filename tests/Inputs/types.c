/* types.c - calls the functions of types.dsl: exit status 0 if every value arrived in both programs,
 * and the launch rule saw the type. */
#include "types.h"

#include <stdio.h>

int main(void) {
    static const double wanted[] = {1,
                                    -128,
                                    -32768,
                                    -2147483647,
                                    -4611686018427387904.0,
                                    255,
                                    65535,
                                    4294967295.0,
                                    9223372036854775808.0,
                                    0.5,
                                    0.1,
                                    -1.5,
                                    2.5,
                                    3.25,
                                    1e-300,
                                    4.5,
                                    5.5,
                                    6.5,
                                    2,
                                    1};
    const int64_t grid[3] = {2, 1, 1};
    double y[40] = {0};
    int wrong = 0;
    fsc_status s = types(FSC_STREAM_CPU, grid, y, true, -128, -32768, -2147483647, -4611686018427387904, 255, 65535,
                         4294967295u, 9223372036854775808u, 0.5f, 0.1, -1.5f, 2.5f, 3.25f, 1e-300, 4.5f, 5.5f, 6.5f);
    if (s != FSC_OK) fprintf(stderr, "%s\n", fsc_last_message());
    for (int i = 0; i < 40; i++) {
        if (y[i] == wanted[i % 20]) continue;
        fprintf(stderr, "value %d is %g, not %g\n", i % 20, y[i], wanted[i % 20]);
        wrong = 1;
    }
    static const uint16_t x[100]; /* bf16 */
    int32_t told[100];
    s = ruled(FSC_STREAM_CPU, told, x, 100);
    if (s != FSC_OK) fprintf(stderr, "%s\n", fsc_last_message());
    for (int i = 0; i < 100 && !wrong; i++) wrong = s != FSC_OK || told[i] != 6402;
    fsc_object_unload(&types_object);
    fsc_object_unload(&ruled_object);
    return wrong;
}
