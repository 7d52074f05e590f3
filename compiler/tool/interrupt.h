/* interrupt.h - Ctrl-C in long work: it ends early, and shows what there is until then. On a terminal, how far it is.
 *
 * Between begin and end the first SIGINT is kept; the second ends the process. Once results are out, pass_on lets the
 * kept one have its effect, so that a shell's loop ends, too. */
#ifndef FSC_INTERRUPT_H
#define FSC_INTERRUPT_H

#include "tool/tool.h"

/* Launches of this device end early then; on standard error, if that is a terminal, how many programs have ended. */
void interrupt_begin(fsc_device *d);
void interrupt_end(void);
bool interrupt_came(void);
void interrupt_tell(const fsc_device *d); /* how many programs of the stopped launch ended, on standard error */
void interrupt_pass_on(void); /* nothing, unless one came */

#endif
