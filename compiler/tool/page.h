/* page.h - a page that needs no other file: a template whose marks are filled in. */
#ifndef FSC_TOOL_PAGE_H
#define FSC_TOOL_PAGE_H

#include "base/base.h"

typedef struct PagePart {
    const char *name;
    const void *bytes;
    size_t size;
} PagePart;

/* The part `page` is the template; each {{NAME}} in it is the part of that name. */
void page_fill(Text *out, const PagePart *parts, size_t n);

#endif
