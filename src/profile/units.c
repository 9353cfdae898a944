/* units.c - numbers as people read them.
 */
#include "profile/profile.h"

/* Three digits, and the unit that leaves one to three before the point. */
static void put_scaled(tk_buf *out, double x, const char *const *units,
                       size_t nunits) {
  size_t u = 0;
  while (u + 1 < nunits && x >= 999.5) x /= 1000, u++;
  int digits = x >= 99.95 || (u == 0 && x == (double)(int)x) ? 0
               : x >= 9.995                                  ? 1
                                                             : 2;
  tk_buf_printf(out, "%.*f%s", digits, x, units[u]);
}

void tkf_put_seconds(tk_buf *out, double s) {
  static const char *const units[] = {" ns", " µs", " ms", " s"};
  put_scaled(out, s * 1e9, units, TK_COUNT(units));
}

void tkf_put_bytes(tk_buf *out, double n) {
  static const char *const units[] = {" B", " kB", " MB", " GB", " TB"};
  put_scaled(out, n, units, TK_COUNT(units));
}

void tkf_put_speed(tk_buf *out, double n) {
  static const char *const units[] = {" flop/s", " kflop/s", " Mflop/s",
                                      " Gflop/s", " Tflop/s"};
  put_scaled(out, n, units, TK_COUNT(units));
}

void tkf_put_count(tk_buf *out, double n) {
  static const char *const units[] = {"", "k", "M", "G", "T"};
  put_scaled(out, n, units, TK_COUNT(units));
}
