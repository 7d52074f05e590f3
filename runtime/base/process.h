/* process.h - what a host program does to its process around a call: it forks, and has a floating-point environment of
 * its own. */
#ifndef FSC_PROCESS_H
#define FSC_PROCESS_H

#include <fenv.h>
#include <stdbool.h>

/* ---- fork() ------------------------------------------------------------------------------------------------------ */

/* How many forks lie between the process that first held them and this one. What was made under another number has no
 * threads here, and no CUDA. */
extern unsigned process_forks;

/* Between the two a fork() in another thread waits: the child then finds no lock taken and nothing half done. They
 * nest. Never around what waits for a thread that holds nothing yet. */
int forks_hold(void);
void forks_release(const int *held);
/* The same until the end of the block. */
#define HOLD_FORKS const int forks_held __attribute__((cleanup(forks_release), unused)) = forks_hold()

/* ---- Floating point ---------------------------------------------------------------------------------------------- */

typedef struct FloatState {
    fenv_t callers;
    bool is_changed;
} FloatState;

/* Between the two: rounding to nearest, subnormal numbers as they are, no traps, as numbers and kernels of the CPU are
 * meant. */
FloatState floats_take(void);
void floats_return(const FloatState *s);
/* The same until the end of the block. */
#define OWN_FLOATS const FloatState floats_taken __attribute__((cleanup(floats_return), unused)) = floats_take()

#endif
