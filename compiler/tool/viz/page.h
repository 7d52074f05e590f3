/* page.h - the pages of `fsc viz` and `fsc explore`, from the templates of tool/viz/page/. */
#ifndef FSC_VIZ_PAGE_H
#define FSC_VIZ_PAGE_H

#include "base/base.h"

/* The page that plays what the facts say (docs/viz.md, "The facts"). */
void viz_page(Text *page, const Text *facts);
/* What stands in its place when there is none: the file, what is with it, and text as a terminal would show it.
 * `live`: the page's number, for a server that says when there is a newer one. */
void viz_problem_page(Text *page, const char *file, const char *what, const char *text, uint32_t live);

#endif
