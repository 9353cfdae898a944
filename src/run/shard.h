/* shard.h - a part of a launch, and all parts of it joined again.
 *
 * While a part runs, an observer notes for each byte that the launch may store
 * to which program of the part wrote it last, and where; and which bytes were
 * read before any program of the part wrote them.  The last stores become a
 * file.  Joined in the order of the parts they are what the serial run leaves,
 * if no part read what an earlier one stored; the notes tell.
 */
#ifndef TK_RUN_SHARD_H
#define TK_RUN_SHARD_H

#include "base/outfile.h"
#include "interp/check/intervals.h"
#include "interp/interp.h"
#include "launch/stores.h"
#include "launch/areas.h"

typedef struct tkr_shard {
  tk_launch *launch;
  const tk_run_options *options;
  const char *path;
  tk_outfile file;
  tkn_writer writer;
  tk_watcher watcher;
  tki_observer observer;
  tk_arena arena;
  tkn_stores stores;
  tk_areas areas;
  tkc_intervals *maps; /* by area; of those that programs may store to */
  TK_VEC(tkn_event) events;
  size_t first;              /* event of the program that runs */
  const tk_source **sources; /* of the texts */
} tkr_shard;

/* Watches the next run of the launch if it is to run a part. */
void tkr_shard_begin(tkr_shard *x, tk_launch *l, const tk_run_options *o);
void tkr_shard_end(tkr_shard *x);

#endif
