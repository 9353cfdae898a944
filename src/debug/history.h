/* history.h - going to another point in time.
 *
 * A checkpoint is a place where running can start again; an edit is what the
 * user did at an event, to be done again when going back to a later one.  Both
 * belong to the
 * engine. */
#ifndef TK_DEBUG_HISTORY_H
#define TK_DEBUG_HISTORY_H

#include "debug/debug.h"
#include "debug/journal.h"

/* A program's beginning with no other program half done. */
struct tkd_checkpoint {
  uint64_t event;   /* before its first statement */
  uint64_t index;   /* of the program */
  uint64_t next;    /* place in the order of the one after it */
  uint64_t journal; /* position */
  uint64_t done;
  size_t ahead; /* how many programs had run out of turn */
  size_t diags;
};

typedef enum tkd_edit_kind {
  TKD_SWITCH, /* to the program index */
  TKD_SET,    /* a slot */
  TKD_POKE,   /* memory */
  TKD_LEAVE,  /* return */
  TKD_JUMP,
} tkd_edit_kind;

struct tkd_edit {
  tkd_edit_kind kind;
  uint64_t event, sub;
  uint64_t index;
  int level, slot; /* the frame, counted from the innermost, and its slot */
  char *bytes;     /* POKE, SET */
  size_t n;
  char *host;          /* POKE */
  const tk_stmt *stmt; /* JUMP */
};

/* A program begins while no other is half done. */
void tkd_begin_checkpoint(tkd *d, uint64_t index);
/* Goes to an event, and an instruction of it. */
void tkd_goto(tkd *d, uint64_t event, uint64_t sub);
/* Goes back to the last place of a kind: BACK, BACK_STEP, ...; to the
 * beginning of the history when there is none. */
void tkd_go_back(tkd *d, tk_resume_kind kind);
/* Comes to the same point in time from the launch's beginning, so that the
 * detectors that are on now see all of it. */
void tkd_watch_again(tkd *d);
void tkd_rewind(tkd *d); /* to before the launch's first statement */
/* Gives the launch's programs the order that the user asked for, if any. */
void tkd_take_order(tkd *d);
/* Calls look, which may go to other points in time; then all is as it was. */
void tkd_and_back(tkd *d, void (*look)(void *ud), void *ud);

/* Fail when the history that is needed does not exist (any more): to go to an
 * event; back; to the launch's beginning; at all. */
void tkd_need_event(tkd *d, uint64_t event, uint64_t sub);
void tkd_need_past(tkd *d);
void tkd_need_beginning(tkd *d);
void tkd_need_history(tkd *d);

/* The bytes are copied. */
tkd_edit *tkd_edit_new(tkd *d, tkd_edit_kind k, const char *bytes, size_t n);
void tkd_redo(tkd *d);      /* edits of the point just reached */
void tkd_redo_late(tkd *d); /* the next one, after a deadlock */
/* Whether the user changed something, which runs aside know nothing of. */
bool tkd_changed_by_hand(const tkd *d);
/* Writes memory, which can be undone; the edit is the caller's. */
void tkd_poke(tkd *d, char *host, const char *bytes, size_t n);

void tkd_mark_new(tkd *d);
void tkd_set_history(tkd *d, uint64_t bytes);
void tkd_history_clear(tkd *d);

#endif
