/* glibc.c - what Debian's LLVM and libstdc++ want of glibc that 2.28 does not
 * have.  The plug-in of wheels has its own. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Since 2.32: whether the process has one thread, so that counts need not be
 * atomic.  It never says so. */
char __libc_single_threaded;

/* Since 2.33: mallinfo with wide numbers, for a statistic of LLVM's that
 * nobody asks for.  There is nothing to say of memory here. */
struct mallinfo2 mallinfo2(void) {
  return (struct mallinfo2){0};
}

/* Since 2.36. */
uint32_t arc4random(void) {
  uint32_t number;
  FILE *f = fopen("/dev/urandom", "rb");
  if (!f || fread(&number, sizeof number, 1, f) != 1) abort();
  fclose(f);
  return number;
}
