/* grid.h - the programs of a launch: their indices, ids and order.
 */
#ifndef TK_INTERP_GRID_H
#define TK_INTERP_GRID_H

#include "interp/interp.h"

/* How many programs the launch has. */
static inline uint64_t tki_programs(const tki *t) {
  return t->order.n;
}
/* Gives the index of the i-th program in the order; returns false if the
 * conditions leave it out. */
bool tki_program_at(const tki *t, uint64_t i, uint64_t *index);
/* The ids of a program by its index. */
void tki_pid_of(const tki *t, uint64_t index, int64_t pid[3]);

/* The index of a program by its ids, axis 0 fastest. */
static inline uint64_t tki_index_of(const tki *t, const int64_t pid[3]) {
  return (uint64_t)pid[0] +
         (uint64_t)t->grid[0] *
             ((uint64_t)pid[1] + (uint64_t)t->grid[1] * (uint64_t)pid[2]);
}
/* ... of the program that runs. */
static inline uint64_t tki_program_index(const tki *t) {
  return tki_index_of(t, t->pid);
}

#endif
