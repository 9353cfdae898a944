/* axis_watch.h - checks the facts of nvptx/axis.h against what runs.
 *
 * The watcher belongs to the caller and is static; one run at a time.
 */
#ifndef TEST_AXIS_WATCH_H
#define TEST_AXIS_WATCH_H

#include "launch/session.h"

/* Attaches to the runs of a session, whose programs are in single assignment:
 * of every integer and pointer that is computed, the facts must hold.  A test
 * fails where one does not. */
void axis_watch(tk_session *s);
/* How many facts that say something were checked so far. */
long axis_watch_count(void);

#endif
