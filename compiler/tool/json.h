/* json.h - JSON as it is read: a tree in an arena, and members by path. */
#ifndef FSC_TOOL_JSON_H
#define FSC_TOOL_JSON_H

#include "base/base.h"

typedef enum JsonKind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct Json {
    JsonKind kind;
    double number;        /* of a truth value 0 or 1 */
    const char *text;     /* of a string, in UTF-8; "" of all others */
    const char *name;     /* of a member */
    struct Json *first, *next; /* items or members, in order */
} Json;

/* NULL: the text is no JSON, or nested deeper than is sound. */
const Json *json_read(Arena *a, const char *text, size_t length);
/* The member at a path such as "params.position.line"; JSON null if there is none. `j` may be NULL. */
const Json *json_at(const Json *j, const char *path);
const char *json_text(const Json *j, const char *path); /* "" if there is no string */
uint32_t json_count(const Json *j, const char *path);   /* a whole number from 0 on; 0 if there is none */

#endif
