/* complete.h - completion of command lines; the call is in tkdbg.h.
 */
#ifndef TK_COMMAND_COMPLETE_H
#define TK_COMMAND_COMPLETE_H

/* Where a word that is completed begins: after one of these. */
extern const char tkt_word_breaks[];

#endif
