/* journal.h - the old contents of memory that programs wrote.  A journal
 * belongs to whoever made it.
 */
#ifndef TK_DEBUG_JOURNAL_H
#define TK_DEBUG_JOURNAL_H

#include "interp/interp.h"

typedef struct tkd_journal tkd_journal;

tkd_journal *tkd_journal_new(tk_env *e);
void tkd_journal_free(tkd_journal *j); /* NULL: nothing */
void tkd_journal_clear(tkd_journal *j);
void tkd_journal_add(tkd_journal *j, char *host, size_t n);
/* Positions: after the newest record, and before the oldest. */
uint64_t tkd_journal_at(const tkd_journal *j);
uint64_t tkd_journal_first(const tkd_journal *j);
void tkd_journal_undo(tkd_journal *j, uint64_t to);
/* As undo, but the journal stays as it is; undo gets what was there. */
void tkd_journal_rewind(const tkd_journal *j, uint64_t to, tkd_journal *undo);
void tkd_journal_trim(tkd_journal *j, uint64_t bytes);
/* Before a write: what was there since tkd_journal_mark was called last is
 * recorded once, however often it is written. */
void tkd_journal_access(tkd_journal *j, const tki_access *a);
void tkd_journal_mark(tkd_journal *j);

#endif
