/* schema.h - the versions of what is printed as JSON, from schema.def. */
#ifndef FSC_SCHEMA_H
#define FSC_SCHEMA_H

enum {
#define SCHEMA(name, version, what) SCHEMA_##name = (version),
#include "base/schema.def"
#undef SCHEMA
};

#endif
