/* plugin.h - what the plug-in of the tests offers. */
#ifndef TESTS_IR_PLUGIN_H
#define TESTS_IR_PLUGIN_H

#include <stdbool.h>

/* What it read; all belong to the caller, free(). */
typedef struct plugin_form {
  char *seen;   /* the form, written from what tkdbg/ir.h tells of it */
  char *said;   /* the form as tk_launch_ir writes it */
  char *report; /* "", or why there is no form */
} plugin_form;

/* Compiles the kernel k of a source for args, "x=f32[4]:ones", up to a
 * NULL. */
typedef void plugin_read_fn(const char *source, const char *const *args,
                            plugin_form *out);
/* A list of what tk_ir_opcode_at and the functions beside it say. */
typedef char *plugin_opcodes_fn(void);

plugin_read_fn plugin_read;
plugin_opcodes_fn plugin_opcodes;

#endif
