/* fiber.c - fibers by ucontext.
 *
 * The catch chain of tk_protect lives on the stack it protects, so each
 * fiber keeps its own and switches it along.  The lowest page of a stack is
 * made inaccessible: overflow faults instead of writing over a neighbour.
 */
#include "interp/fiber.h"

#include "base/assert.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define SWITCH_START(save, base, size)                                         \
  __sanitizer_start_switch_fiber(save, base, size)
#define SWITCH_END(save, base, size)                                           \
  __sanitizer_finish_switch_fiber(save, base, size)
#else
#define SWITCH_START(save, base, size)                                         \
  ((void)(save), (void)(base), (void)(size))
#define SWITCH_END(save, base, size) ((void)(save), (void)(base), (void)(size))
#endif

enum { STACK_BYTES = 256 << 10 };

struct tki_fiber {
  tk_env *env;
  void (*fn)(tk_env *e, void *ud);
  void *ud;
  char *stack;       /* page-aligned, in the same piece of memory */
  size_t page, size; /* bytes of a page, and of that piece */
  ucontext_t self, caller;
  tk_catch *catches; /* the chain of the side that does not run now */
  void *fake;        /* the sanitizer's stack of the side that does not run */
  const void *caller_stack;
  size_t caller_size;
  tk_status status;
  bool ended;
  bool runs;
};

static void swap_catches(tki_fiber *f) {
  tk_catch *mine = f->catches;
  f->catches = f->env->top;
  f->env->top = mine;
}

/* makecontext passes ints only. */
static void fiber_entry(unsigned hi, unsigned lo) {
  uintptr_t at = (uintptr_t)((uint64_t)hi << 32 | lo);
  tki_fiber *f = (tki_fiber *)at;
  SWITCH_END(NULL, &f->caller_stack, &f->caller_size);
  f->status = tk_protect(f->env, f->fn, f->ud);
  f->ended = true;
  swap_catches(f);
  SWITCH_START(NULL, f->caller_stack, f->caller_size);
  swapcontext(&f->self, &f->caller);
}

/* The fiber and its stack are one allocation, so that either both are made or
 * neither. */
tki_fiber *tki_fiber_new(tk_env *e, void (*fn)(tk_env *e, void *ud), void *ud) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t size = sizeof(tki_fiber) + STACK_BYTES + 2 * page;
  tki_fiber *f = tk_realloc(e, NULL, 0, size);
  uintptr_t stack = ((uintptr_t)(f + 1) + page - 1) & ~(page - 1);
  *f = (tki_fiber){.env = e,
                   .fn = fn,
                   .ud = ud,
                   .page = page,
                   .size = size,
                   .stack = (char *)stack};
  mprotect(f->stack, page, PROT_NONE);
  getcontext(&f->self);
  f->self.uc_stack.ss_sp = f->stack;
  f->self.uc_stack.ss_size = STACK_BYTES + page;
  f->self.uc_link = NULL;
  uint64_t at = (uint64_t)(uintptr_t)f;
  makecontext(&f->self, (void (*)(void))fiber_entry, 2, (unsigned)(at >> 32),
              (unsigned)at);
  return f;
}

bool tki_fiber_resume(tki_fiber *f) {
  if (f->ended) return false;
  void *fake = NULL;
  TK_ASSERT(!f->runs);
  f->runs = true;
  swap_catches(f);
  SWITCH_START(&fake, f->stack, STACK_BYTES + f->page);
  swapcontext(&f->caller, &f->self);
  SWITCH_END(fake, NULL, NULL);
  TK_ASSERT(f->runs);
  f->runs = false;
  return !f->ended;
}

tk_status tki_fiber_status(const tki_fiber *f) {
  TK_ASSERT(f->ended);
  return f->status;
}

void tki_fiber_yield(tki_fiber *f) {
  TK_ASSERT(f->runs && !f->ended);
  swap_catches(f);
  SWITCH_START(&f->fake, f->caller_stack, f->caller_size);
  swapcontext(&f->self, &f->caller);
  SWITCH_END(f->fake, &f->caller_stack, &f->caller_size);
}

void tki_fiber_free(tki_fiber *f) {
  if (!f) return;
  TK_ASSERT(!f->runs);
  mprotect(f->stack, f->page, PROT_READ | PROT_WRITE);
  tk_free(f->env, f, f->size);
}
