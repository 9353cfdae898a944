/* agent.h - conditions of breakpoints, as bytecode that gdb sends.
 *
 * Source: "Debugging with GDB", appendix F, The GDB Agent Expression
 * Mechanism.  Of the opcodes, those that conditions can have are run; tracing,
 * printing and floats are
 * errors. */
#ifndef GDBSTUB_GDB_AGENT_H
#define GDBSTUB_GDB_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a condition looks at; false: it cannot be read. */
typedef struct gs_agent {
  void *ud;
  bool (*memory)(void *ud, uint64_t address, void *bytes, size_t n);
  bool (*reg)(void *ud, int number, uint64_t *value);
} gs_agent;

/* Evaluates a condition; returns false if it has no value because it is
 * malformed, does not end, or reads memory or registers that do not exist. */
bool gs_agent_run(const gs_agent *a, const unsigned char *code, size_t n,
                  int64_t *value);

#endif
