/* plugin.h - what the plug-in of the tests offers. */
#ifndef TESTS_IR_PLUGIN_H
#define TESTS_IR_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

/* What it read; all belong to the caller, free(). */
typedef struct plugin_form {
  char *seen;   /* the form, written from what tkdbg/ir.h tells of it */
  char *said;   /* the form as tk_launch_ir writes it */
  char *report; /* "", or why there is no form */
} plugin_form;

/* Compiles the kernel k of a source for args, "x=f32[4]:ones", up to a NULL,
 * with the meaning of a version of Triton (NULL: the newest). */
typedef void plugin_read_fn(const char *source, const char *const *args,
                            const char *triton, plugin_form *out);
/* A list of what tk_ir_opcode_at and the functions beside it say. */
typedef char *plugin_opcodes_fn(void);

/* A pass over a form: what it found, what it made of it, and what that does;
 * free said and report. */
typedef struct plugin_pass_result {
  char *said;               /* the form before */
  size_t stmts, insts;      /* that a walk met */
  size_t uses[2];           /* of the values called x and y, as operands */
  bool ran, same_when_kept; /* an unchanged form prints as the same text */
  float out[4];             /* what the changed kernel left in `out` */
  char *report;
} plugin_pass_result;

/* The kernel k of a source for args; in its form the first `from` becomes
 * `to`, and that runs. */
typedef void plugin_pass_fn(const char *source, const char *const *args,
                            const char *from, const char *to,
                            plugin_pass_result *out);

plugin_read_fn plugin_read;
plugin_pass_fn plugin_pass;
plugin_opcodes_fn plugin_opcodes;

#endif
