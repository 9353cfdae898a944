/* progress.c - what a person sees of a long run: a bar while it lasts, when
 * standard error is a terminal, and one line at its end.
 *
 *   add_kernel [====>       ]  38%  37/97 programs  12/s  5 s left
 */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct cli_progress {
  const char *name;
  double start, shown; /* seconds; when the bar was last drawn, or 0 */
  bool visible;
};

enum { BAR = 12 };
static const double first_after = 0.3, redraw_after = 0.1;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cli_progress *cli_progress_new(const char *name, bool wanted) {
  if (!wanted || !isatty(STDERR_FILENO)) return NULL;
  cli_progress *p = calloc(1, sizeof *p);
  if (p) *p = (cli_progress){.name = name, .start = now()};
  return p;
}

void cli_progress_clear(cli_progress *p) {
  if (!p->visible) return;
  fputs("\r\033[K", stderr);
  p->visible = false;
}

void cli_progress_free(cli_progress *p) {
  if (!p) return;
  cli_progress_clear(p);
  free(p);
}

static int terminal_width(void) {
  struct winsize w;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col) return w.ws_col;
  return 80;
}

/* 950, 12.3k, 4.5M */
static void format_count(char out[16], double n) {
  static const char units[] = " kMGT";
  size_t u = 0;
  for (; n >= 999.5 && u < sizeof units - 2; u++) n /= 1000;
  if (u == 0)
    snprintf(out, 16, "%.0f", n);
  else
    snprintf(out, 16, "%.*f%c", n < 99.95, n, units[u]);
}

/* 12 µs, 1.2 ms, 3.4 s, 2:05 min */
static void format_time(char out[24], double s) {
  if (s < 1e-3)
    snprintf(out, 24, "%.0f µs", s * 1e6);
  else if (s < 1)
    snprintf(out, 24, "%.*f ms", s < 0.1, s * 1e3);
  else if (s < 60)
    snprintf(out, 24, "%.*f s", s < 10, s);
  else
    snprintf(out, 24, "%d:%02d min", (int)(s / 60), (int)s % 60);
}

static void format_bar(char out[BAR + 1], double part) {
  int full = (int)(part * BAR);
  CLI_ASSERT(full >= 0 && full <= BAR);
  memset(out, ' ', BAR);
  memset(out, '=', (size_t)full);
  if (full < BAR) out[full] = '>';
  out[BAR] = '\0';
}

/* Writes whole seconds, in ASCII only, because the line may be cut at any
 * byte. */
static void format_left(char out[24], double s) {
  if (s >= 60)
    snprintf(out, 24, "%.0f:%02d min", floor(s / 60), (int)fmod(s, 60));
  else
    snprintf(out, 24, "%.0f s", ceil(s));
}

static void draw(cli_progress *p, uint64_t done, uint64_t total, double t) {
  char line[256], bar[BAR + 1], rate[16], left[24], of[2][16];
  double part = total ? (double)done / (double)total : 0;
  double speed = (double)done / (t - p->start);
  format_bar(bar, part);
  format_count(rate, speed);
  format_count(of[0], (double)done);
  format_count(of[1], (double)total);
  format_left(left, speed > 0 ? (double)(total - done) / speed : 0);
  snprintf(line, sizeof line, "%.14s [%s] %3d%%  %s/%s programs  %s/s  %s left",
           p->name, bar, (int)(part * 100), of[0], of[1], rate,
           done ? left : "?");
  fprintf(stderr, "\r%.*s\033[K", terminal_width() - 1, line);
  fflush(stderr);
  p->visible = true;
}

void cli_progress_tick(void *ud, uint64_t done, uint64_t total) {
  cli_progress *p = ud;
  double t = now();
  CLI_ASSERT(done <= total);
  if (t - p->start < first_after || t - p->shown < redraw_after) return;
  p->shown = t;
  draw(p, done, total, t);
}

static const char *verdict(tk_status st) {
  if (st == TK_OK) return "";
  return st == TK_INTERRUPTED ? "interrupted after " : "stopped after ";
}

void cli_summary_of_many(const char *name, const char *runs, double fastest,
                         double average) {
  char best[24], usual[24];
  format_time(best, fastest);
  format_time(usual, average);
  fprintf(stderr, "%s: %s runs, the fastest in %s, %s on average\n", name, runs,
          best, usual);
}

void cli_summary(const char *name, tk_status st, const tk_summary *s) {
  char time[24], rate[16];
  format_time(time, s->seconds);
  format_count(rate, s->seconds > 0 ? (double)s->programs / s->seconds : 0);
  fprintf(stderr, "%s: %s%llu program%s in %s (%s programs/s, ", name,
          verdict(st), (unsigned long long)s->programs,
          s->programs == 1 ? "" : "s", time, rate);
  fprintf(stderr, "peak %.1f MiB)\n", (double)s->peak_bytes / (1 << 20));
}
