/* ptx_case.h - a kernel's PTX beside the interpreter of its source: the same
 * arguments, every tensor compared.
 */
#ifndef TESTS_SUPPORT_PTX_CASE_H
#define TESTS_SUPPORT_PTX_CASE_H

#include "ptx/ptx.h"

typedef struct ptx_case {
  const char *ptx, *source, *kernel; /* files, and the function's name */
  const char *grid;
  const char *args;   /* as the command takes them, separated by blanks */
  const char *consts; /* those that the PTX has no parameters for */
  size_t shared;      /* dynamic, in bytes */
  int extra;          /* parameters behind, null pointers */
  double tolerance;   /* relative to the largest; 0: bits */
} ptx_case;

/* The report of both, "" if there is none; ends the process's test with a
 * message if they differ.  The caller frees it. */
char *run_ptx_case(const ptx_case *c, tkp_summary *sum);

/* A file's text; the caller frees it. */
char *read_whole_file(const char *path, size_t *size);

#endif
