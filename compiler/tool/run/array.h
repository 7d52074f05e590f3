/* array.h - host arrays of the run command: element types, .npy files, and the buffer words of the command line. */
#ifndef FSC_ARRAY_H
#define FSC_ARRAY_H

#include "tool/tool.h"

enum { ARRAY_RANK_MAX = 8 };

typedef struct Array {
    const char *dtype; /* canonical short name: "fp32", "bf16", "u8" … */
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
    uint64_t count; /* elements */
    uint64_t bytes;
    void *data; /* malloc'd, C order; owned */
} Array;

/* Bytes of one element in memory (i1 takes one), or 0 for an unknown name. */
uint32_t element_bytes(const char *dtype);
/* The size of such an array; false: no memory holds it. */
bool array_bytes(const char *dtype, uint32_t rank, const uint64_t *shape, uint64_t *bytes);
/* Sets dtype, shape, count, bytes and allocates (zeroed). False after printing why not. */
bool array_create(Array *a, const char *what, const char *dtype, uint32_t rank, const uint64_t *shape);
void array_destroy(Array *a);
/* Standard normal numbers (floats) or small integers from a seed: the same on every machine. */
void array_fill_random(Array *a, uint64_t seed);
/* Of integers: 0, step, 2 step, …, in C order; they wrap. */
void array_fill_steps(Array *a, uint64_t step);

/* NumPy's format, version 1 to 3, C order. bf16 and fp8 have no NumPy name: they are written as unsigned integers of
 * their width, and read as such. "-" is standard input or output. Both print why they fail. */
bool npy_read(const char *path, Array *a);
ExitCode npy_write(const char *path, const Array *a);

typedef enum WordKind { WORD_NUMBER, WORD_RANDOM, WORD_ZEROS, WORD_STEPS, WORD_FILE } WordKind;

/* The value of NAME=VALUE on the command line of run. */
typedef struct Word {
    const char *name, *text; /* text: after the = */
    WordKind kind;
    const char *path;  /* WORD_FILE */
    const char *dtype; /* NULL: not said */
    bool has_shape;
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
    uint64_t seed; /* or step */
    fsc_arg number; /* WORD_NUMBER */
} Word;

/* False after printing what is wrong with the word. */
/* An integer as C writes it, else a real number. False: neither. */
bool number_argument(const char *text, fsc_arg *out);
bool word_parse(Arena *arena, const char *argument, Word *w);

#endif
