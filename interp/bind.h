/* bind.h - which function runs an instruction, and with which loop.
 *
 * A program is const; what the interpreter adds to it is a table with an entry
 * for each instruction, by its number.  It belongs to the arena that it was
 * made in and is made once for each program.
 */
#ifndef TK_INTERP_BIND_H
#define TK_INTERP_BIND_H

#include "interp/settled.h"

typedef struct tki_op tki_op;
/* Runs op->in on the slots of the function that it is in. */
typedef void (*tki_run)(tki *t, const tki_op *op, tki_val *slots);
/* A loop over lanes; whoever calls it casts it to its type. */
typedef void (*tki_kernel)(void);

struct tki_op {
  const tk_inst *in;
  tki_run run;
  tki_kernel kernel; /* NULL: run needs none */
  uint32_t kill;     /* in->kill without slots that hold settled values */
  uint32_t next;     /* distance to the next instruction of its list that is not
                        settled; 0 if none */
  bool settled;      /* see settled.h */
  tki_part part;     /* BROADCAST: the part that stands for the whole result;
                        see fuse in bind.c */
};

/* The table of a program; device: with the numerics of code for a GPU.  s says
 * what is settled in it; NULL: nothing is. */
tki_op *tki_bind(tk_arena *a, const tk_program *p, const tki_settled *s,
                 bool device);

/* What runs each instruction: tki_run_LOAD and so on. */
#define INST(id, name, effect, lanes, flops, results, doc)                     \
  void tki_run_##id(tki *t, const tki_op *op, tki_val *slots);
#include "ir/inst.def"

/* These choose a kernel, or another function for some types; f is the function
 * that the instruction belongs to. */
void tki_bind_ADDPTR(tki_op *op, const tk_func *f);
void tki_bind_CAST(tki_op *op, const tk_func *f);
void tki_bind_UNARY(tki_op *op, const tk_func *f);
void tki_bind_BINARY(tki_op *op, const tk_func *f);
void tki_bind_COMPARE(tki_op *op, const tk_func *f);
void tki_bind_EXTERN(tki_op *op, const tk_func *f);
void tki_bind_REDUCE(tki_op *op, const tk_func *f);
void tki_bind_SCAN(tki_op *op, const tk_func *f);
/* Afterwards, where a GPU computes it in another way. */
void tki_bind_device(tki_op *op);

#endif
