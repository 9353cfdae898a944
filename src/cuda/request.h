/* request.h - what the program tkdbg-cuda is asked: one launch on a GPU.
 *
 * A request is a file without a name that both processes map.  Offsets count
 * bytes from its beginning; numbers are the machine's own.  Memory lies in it
 * as it is before the launch, and afterwards as the launch left
 * it. */
#ifndef TK_CUDA_REQUEST_H
#define TK_CUDA_REQUEST_H

#include <stdint.h>

/* What became of a request; OK is only said at the very end. */
typedef enum tkcu_outcome {
  TKCU_DIED,    /* nothing was said */
  TKCU_OK,      /* memory is as the launch left it */
  TKCU_FAULT,   /* the kernel is at fault */
  TKCU_MISSING, /* this machine lacks something that is needed */
  /* an address was taken in this process; another one may succeed */
  TKCU_BUSY,
} tkcu_outcome;

/* Global memory, where the kernel sees it. */
typedef struct tkcu_range {
  uint64_t base, size; /* address and bytes */
  uint64_t at;         /* its bytes in the file */
  uint64_t writable;
} tkcu_range;

enum { TKCU_WORDS = 8192 };

typedef struct tkcu_request {
  uint64_t bytes;             /* of the whole file */
  uint64_t code;              /* PTX, NUL-terminated; 0: nothing is run */
  uint64_t params, nparams;   /* uint64_t each: the low bytes count */
  uint64_t ranges, nranges;   /* tkcu_range, ascending, without overlap */
  uint32_t grid[3], block[3]; /* programs; threads */
  uint32_t shared;            /* bytes of dynamic shared memory */
  uint64_t entry;             /* the kernel's name, NUL-terminated */
  /* ---- the answer */
  uint32_t outcome;         /* a tkcu_outcome */
  uint32_t capability;      /* of the device: 90 is 9.0 */
  uint32_t driver, runtime; /* versions: 12080 is 12.8 */
  char device[256];         /* its name */
  char words[TKCU_WORDS];   /* what is wrong, as a clause */
  char help[TKCU_WORDS];    /* what to do about it; may be empty */
  double milliseconds;      /* that the kernel took */
} tkcu_request;

#endif
