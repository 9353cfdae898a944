/* assert.h - what must hold.
 *
 * TK_ASSERT(condition) is checked in the builds that tests and sanitizers use
 * (TK_ASSERTS is defined there); elsewhere it costs nothing and its condition
 * is not evaluated.  It guards what our own code promises: bad input is
 * reported, never asserted.
 */
#ifndef TK_BASE_ASSERT_H
#define TK_BASE_ASSERT_H

#ifdef TK_ASSERTS
void tk_assert_failed(const char *file, int line, const char *condition)
    __attribute__((noreturn));
#define TK_ASSERT(condition)                                                   \
  ((condition) ? (void)0 : tk_assert_failed(__FILE__, __LINE__, #condition))
#else
#define TK_ASSERT(condition) ((void)(1 || (condition))) /* not evaluated */
#endif

#endif
