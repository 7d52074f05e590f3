/* plant.c - which planted fault is on: the one that FSC_PLANT names, in the build that has any.
 *
 * In: the environment. Out: plant().
 */
#include "base/plant.h"

#ifdef FSC_PLANTS

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[PLANT_COUNT] = {
#define PLANT(e, name, what) name,
#include "base/plant.def"
#undef PLANT
};

bool plant(Plant p) {
    const char *on = getenv("FSC_PLANT");
    if (!on || !*on) return false;
    for (int i = 0; i < PLANT_COUNT; i++)
        if (strcmp(names[i], on) == 0) return i == (int)p;
    bug("FSC_PLANT: there is no planted fault '%s' in base/plant.def", on);
}

#else
typedef int PlantsAreOff; /* a file of C may not be empty */
#endif
