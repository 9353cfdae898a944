/* demo.c - tkdbg demo: becomes the script that shows commands and runs them.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_demo(const cli_args *a) {
  char *script = cli_demo_script(), *own = cli_own_path();
  int code = TK_INTERNAL;
  if (a->nwords) {
    code =
        cli_usage(a, "no operand is expected, but '%s' is given", a->words[0]);
  } else if (!script || !own) {
    fputs("tkdbg: cannot find the demo's files, which are installed together "
          "with the command\n",
          stderr);
  } else {
    execl("/bin/sh", "sh", script, own, (char *)NULL);
    fprintf(stderr, "tkdbg: cannot run /bin/sh: %s\n", strerror(errno));
  }
  free(script);
  free(own);
  return code;
}
