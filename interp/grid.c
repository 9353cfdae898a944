/* grid.c - the programs of a launch: their indices, ids and order. */
#include "interp/grid.h"

void tki_pid_of(const tki *t, uint64_t index, int64_t pid[3]) {
  uint64_t x = (uint64_t)t->grid[0], y = (uint64_t)t->grid[1];
  pid[0] = (int64_t)(index % x);
  pid[1] = (int64_t)(index / x % y);
  pid[2] = (int64_t)(index / x / y);
  TK_ASSERT(pid[2] < t->grid[2]);
}

bool tki_program_at(const tki *t, uint64_t i, uint64_t *index) {
  int64_t pid[3];
  TK_ASSERT(i < t->order.n);
  *index = tk_order_at(&t->order, i);
  tki_pid_of(t, *index, pid);
  return tk_pids_match(&t->pids, pid);
}
