/* image.h - the machine that a debugger is shown in place of the interpreter.
 *
 * A launch looks like a process of that machine: every statement of the form
 * has an address, every call a frame at which each of its values has a place,
 * and a file tells the debugger so (symbols.h).  Nobody runs the code.
 *
 *   CODE + image * CODE_SIZE
 *                          STRIDE bytes for each statement, or several times
 *                          as many if its calls need them to return to,
 *                          functions one after another; after them the
 *                          address to which the kernel would return, and one
 *                          of programs that have not begun
 *   FRAMES + program << PROGRAM_BITS + (DEEPEST - depth) << FRAME_BITS
 *                          what a call has: at BASE its return address and
 *                          its caller's rbp end, from SLOTS on its values
 *   RETURNED + program << PROGRAM_BITS
 *                          a block that a function has returned
 *   anything else          memory of the launch's tensors, at its address
 *
 * A deeper frame has a lower address, as debuggers expect.  Each value begins
 * a page, but for items of a block pointer, which all have values or none:
 * debuggers read stacks by cache lines, which must not hold a value that can be
 * read beside one that cannot.
 *
 * Ownership: an image belongs to the caller; the form must outlive it.
 * Errors: calls throw when memory is
 * out. */
#ifndef GDBSTUB_GDB_IMAGE_H
#define GDBSTUB_GDB_IMAGE_H

#include "base/env.h"
#include "gdbstub/gdb/elf.h"
#include "gdbstub/gdb/machine.h"
#include "tkdbg/debugger.h"

enum {
  GS_STRIDE = 32,
  GS_PAGE = 4096,
  GS_DEEPEST = 63,
  GS_FRAME_BITS = 28,
  GS_PROGRAM_BITS = 34,
  /* How many programs have addresses for their frames at one time; a prime, so
   * that programs whose numbers differ by a round number do not share them. */
  GS_PROGRAMS = 1021,
  GS_BASE = 0x1000,
  GS_SLOTS = 0x10000, /* from the base on */
};

#define GS_CODE UINT64_C(0x400000)
#define GS_CODE_SIZE UINT64_C(0x1000000)
#define GS_FRAMES UINT64_C(0x200000000000)
#define GS_RETURNED UINT64_C(0x300000000000)

/* A value of a function, and where it lies in each of its frames. */
typedef struct gs_slot {
  const char *name; /* NULL: it is not shown */
  tk_ir_type type;
  size_t lanes;
  size_t size;     /* bytes of a lane in the interpreter */
  size_t shown;    /* bytes of a lane as the debugger sees it */
  uint64_t offset; /* from the frame's base */
  uint64_t room;   /* up to the next one */
  /* The block pointer or descriptor that it is an item of; NULL: none. */
  const tk_debug_local *window;
  uint64_t bound; /* address of the first statement that assigns it; 0 */
} gs_slot;

typedef struct gs_function {
  const tk_ir_func *func;
  const tk_debug_function *known; /* set only while the image is made */
  /* equal to low: a function of tkdbg's own library, which has no code */
  uint64_t low, high;
  TK_VEC(tk_debug_local) windows; /* its block pointers and descriptors */
  gs_slot *slots;                 /* by the numbers of the form's values */
  size_t nslots;
} gs_function;

/* A statement, by its addresses. */
typedef struct gs_code {
  uint64_t begin, end;
  const gs_function *function;
  /* NULL: the return statement of a function without one */
  const tk_ir_stmt *stmt;
  uint64_t loop; /* address of the loop that it is in; 0: in none */
} gs_code;

typedef struct gs_image {
  tk_arena arena;
  const gs_machine *machine;
  const tk_ir *form;
  gs_function *functions; /* by the form's numbers */
  size_t nfunctions;
  uint64_t *addresses; /* of statements, by the form's numbers */
  size_t nstmts;
  TK_VEC(gs_code) code; /* for every STRIDE bytes */
  uint64_t begin, end;  /* of all statements */
  /* The address that kernels return to. It does not follow a function directly,
   * because debuggers take the function before a return address for the
   * caller. */
  uint64_t exit;
  uint64_t not_begun; /* where lldb sees programs that have not begun */
  gs_elf *elf;        /* of symbols.h: NULL until it is written */
  const tk_buf *file;
} gs_image;

/* The image that is made as number, from 0.  Of what the engine knows of
 * functions, their compile-time values count. */
gs_image *gs_image_new(tk_env *e, const gs_machine *machine, const tk_ir *form,
                       int number, const tk_debug_function *list, size_t n);
void gs_image_free(tk_env *e, gs_image *m); /* NULL: nothing */

/* A checksum that tells its symbols, in a file of that name, from others; 0
 * without an image. */
uint64_t gs_image_sum(const gs_image *m, const char *name);
/* Copies the code at an address. */
void gs_code_bytes(const gs_machine *m, uint64_t address, void *bytes,
                   size_t n);
/* Where the k-th call of a statement returns to, from 1. */
uint64_t gs_call_returns(const gs_image *m, uint64_t address, size_t k);
/* The statement at an address, or around it; NULL: there is none. */
const gs_code *gs_image_code(const gs_image *m, uint64_t address);
const gs_function *gs_image_function(const gs_image *m, size_t id);
/* The value at an offset from a frame's base; NULL: there is none. */
const gs_slot *gs_image_slot(const gs_function *f, uint64_t offset);

/* Where the frame of a program's call has its base; depth 0 is the kernel. */
uint64_t gs_frame_base(uint64_t program, size_t depth);
/* Where a block lies that a function of the program has returned. */
uint64_t gs_returned_block(uint64_t program);

/* Fills in sizes of lanes, by the type. */
void gs_slot_measure(gs_slot *s);
/* Lanes as the debugger sees them, and back; n of them. */
void gs_slot_show(const gs_slot *s, const void *lanes, size_t n, void *shown);
void gs_slot_take(const gs_slot *s, const void *shown, size_t n, void *lanes);

#endif
