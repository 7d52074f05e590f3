/* expect.h - what a launch gave against what it should give, and arrays as text. */
#ifndef FSC_EXPECT_H
#define FSC_EXPECT_H

#include "tool/run/job.h"

/* Whether the names of --print and --expect are the kernel's; EXIT_CALL after saying what is wrong. */
ExitCode expect_names(const Job *j);
/* Compares what --expect names, of a launch whose results are in the job's arrays, and adds a line for each to `out`
 * that says where it differs, or by how much. EXIT_INPUT: something differs; EXIT_CALL: an expectation makes no
 * sense. */
ExitCode expect_all(Job *j, Text *out);
/* show.c: "y = fp32[4,8]" and its elements, edges alone of what is long. */
void show_array(Text *out, const char *name, const Array *a);

#endif
