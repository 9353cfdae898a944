/* contested.c - whether what an element holds depends on who comes last.
 */
#include "run/contested.h"

#include <string.h>

#include "interp/grid.h"
#include "run/against.h"

typedef struct contest {
  tk_watcher watcher;
  tki_observer observer;
  uint64_t address;
  uint64_t program;  /* of the last write, + 1; 0: there is none */
  uint8_t value[8];  /* that it stored */
  const tk_inst *in; /* that did */
  bool found;
} contest;

/* Atomic operations on integers give one result in every order, but those
 * that replace what is there. */
static bool contest_settles(const tk_inst *in) {
  return in->op == TK_I_ATOMIC && tk_atomic_op(in) != TK_A_XCHG &&
         !tk_is_float((tk_dtype)in->type.elem);
}

static void contest_write(void *ud, tki *t, const tki_access *a) {
  contest *c = ud;
  uint64_t program = tki_program_index(t) + 1;
  bool here = false; /* by another lane of this access */
  if (!a->write) return;
  for (size_t i = 0; i < a->n; i++) {
    if ((a->mask && !a->mask[i]) || c->address - a->addr[i] >= a->size)
      continue;
    const char *value = a->value + i * a->step;
    bool other = here || (c->program && c->program != program);
    bool settled = contest_settles(a->in) && c->in == a->in;
    if (other && !settled && memcmp(c->value, value, a->size) != 0)
      c->found = true;
    c->program = program;
    c->in = a->in;
    memcpy(c->value, value, a->size);
    here = true;
  }
}

static void contest_begins(void *ud, tki *t) {
  contest *c = ud;
  c->observer = (tki_observer){.ud = c, .access = contest_write};
  tki_observe(t, &c->observer);
}

bool tkr_is_contested(tk_launch *l, tkr_run_fn own,
                      const tk_run_options *options, uint64_t address) {
  contest c = {.address = address};
  c.watcher = (tk_watcher){.ud = &c, .begin = contest_begins};
  return tkr_run_watched(l, own, options, &c.watcher) == TK_OK && c.found;
}
