/* version.c - tkdbg version. */
#include "cli.h"

int cli_version(const cli_args *a) {
  if (a->nwords) return cli_usage(a, "takes no operand");
  puts("tkdbg " TK_VERSION);
  return TK_OK;
}
