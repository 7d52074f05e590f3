/* nearest.c - which of the names that there are was meant by one that is none.
 *
 * In: a name, and those that there are. Out: the one at the fewest edits, if they are few for the name's length.
 */
#include "base/base.h"

#include <string.h>

/* A swap of neighbours is one edit; beyond `limit` where a name is long. */
static uint32_t edit_distance(const char *x, const char *y, uint32_t limit) {
    enum { LONGEST = 40 };
    size_t n = strlen(x), m = strlen(y);
    if (n > LONGEST || m > LONGEST) return limit + 1;
    uint32_t rows[3][LONGEST + 1] = {{0}};
    for (size_t j = 0; j <= m; j++) rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = before[j - 1] + (x[i - 1] != y[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1];
            if (swapped && older[j - 2] + 1 < best) best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *nearest_name(const char *name, const char *const *names, uint32_t count) {
    const char *best = NULL;
    size_t length = strlen(name);
    uint32_t least = length < 4 ? 1 : length < 7 ? 2 : 3;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t distance = edit_distance(name, names[i], least);
        if (distance > least || (best && distance == least) || distance >= length) continue;
        least = distance;
        best = names[i];
    }
    return best;
}
