/* plant.h - is a planted fault on? Never, but in the test build that has them.
 *
 * In: a row of plant.def. Out: plant() is true where the lowering is to do wrong on purpose. In any other build it is
 * the constant false and its branches are gone.
 */
#ifndef FSC_BASE_PLANT_H
#define FSC_BASE_PLANT_H

#include <stdbool.h>

typedef enum Plant {
#define PLANT(e, name, what) PLANT_##e,
#include "base/plant.def"
#undef PLANT
    PLANT_COUNT
} Plant;

#ifdef FSC_PLANTS
/* Is it the one that the environment variable FSC_PLANT names? An unknown name ends the process: a test's mistake. */
bool plant(Plant p);
#else
static inline bool plant(Plant p) {
    (void)p;
    return false;
}
#endif

#endif
