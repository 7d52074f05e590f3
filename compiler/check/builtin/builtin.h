/* builtin.h - the handlers of the builtins, one a row of builtin.def. */
#ifndef FSC_BUILTIN_H
#define FSC_BUILTIN_H

#include "check/sema.h"

#define BUILTIN(name, min, max, arguments, kinds, handler, aux) Handler builtin_##handler;
#define LIBRARY(name, file, kinds)
#define MISSING(name)
#include "check/builtin/builtin.def"
#undef BUILTIN
#undef LIBRARY
#undef MISSING

#endif
