/* ceilings.c - what one core of this machine does at most.
 *
 * Bandwidth is that of copying memory that no cache holds, each byte read and
 * written; floating-point operations are those of multiplications and additions
 * on registers, fused where the processor can.  The best of some tries counts:
 * others may use the machine.  Both are kept in a file, with the processor that
 * they were measured on; a file that is of another one, or that says nothing
 * sensible, is measured
 * again. */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache_folder.h"
#include "base/clock.h"
#include "base/outfile.h"
#include "interp/kernels.h"
#include "profile/profile.h"

/* ---- measuring ----------------------------------------------------------- */

/* Enough chains of dependent operations to keep every unit busy, but not more
 * than there are registers for; that depends on how wide these are. */
#define CHAINS(NAME, LANES, EXPR)                                              \
  static void NAME(float *to, float a, float b, size_t trips) {                \
    float x[LANES];                                                            \
    memcpy(x, to, sizeof x);                                                   \
    for (size_t t = 0; t < trips; t++)                                         \
      for (int i = 0; i < (LANES); i++) x[i] = EXPR;                           \
    memcpy(to, x, sizeof x);                                                   \
  }

#if TK_HAS_CLONES
#define CAN_FUSE __builtin_cpu_supports("fma")
#else
#define CAN_FUSE false
#endif

enum { MOST_CHAINS = 128, FEW_CHAINS = 96 };
TK_FUSED_CLONES CHAINS(fused_many, MOST_CHAINS,
                       __builtin_fmaf(x[i], a, b)) TK_FUSED_CLONES
    CHAINS(fused_few, FEW_CHAINS, __builtin_fmaf(x[i], a, b)) TKI_CLONES
    CHAINS(apart_many, MOST_CHAINS, x[i] * a + b) TKI_CLONES
    CHAINS(apart_few, FEW_CHAINS, x[i] * a + b)

        static double measure_flops(void) {
  enum { TRIPS = 20000, TRIES = 40 };
  static const struct {
    void (*run)(float *to, float a, float b, size_t trips);
    int chains;
    bool fused;
  } ways[] = {{fused_many, MOST_CHAINS, true},
              {fused_few, FEW_CHAINS, true},
              {apart_many, MOST_CHAINS, false},
              {apart_few, FEW_CHAINS, false}};
  float x[MOST_CHAINS];
  double best = 0;
  for (size_t k = 0; k < TK_COUNT(ways); k++) {
    if (ways[k].fused && !CAN_FUSE) continue;
    for (int i = 0; i < MOST_CHAINS; i++) x[i] = (float)i;
    for (int i = 0; i < TRIES; i++) {
      double began = tk_clock_seconds();
      ways[k].run(x, 0.5f, 1, TRIPS);
      double s = tk_clock_seconds() - began;
      double done = 2.0 * ways[k].chains * TRIPS;
      if (s > 0 && done / s > best) best = done / s;
    }
  }
  return best;
}

/* Twice the size of the last cache, but no more than a machine can be expected
 * to spare. */
static size_t bytes_beyond_caches(void) {
  enum { LEAST = 32 << 20, MOST = 128 << 20 };
  long cache = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  if (cache < LEAST / 2) return LEAST;
  return cache > MOST / 2 ? MOST : 2 * (size_t)cache;
}

/* Less memory is taken where there is less; without any it is unknown. */
static double measure_bandwidth(const tk_env *e) {
  enum { TRIES = 5, LEAST = 1 << 20 };
  size_t n = 2 * bytes_beyond_caches();
  char *from = NULL;
  double best = 0;
  while (n >= LEAST && !(from = e->alloc(e->alloc_ud, NULL, 0, n))) n /= 2;
  if (!from) return 0;
  char *to = from + n / 2;
  memset(from, 1, n);
  for (int i = 0; i < TRIES; i++) {
    double began = tk_clock_seconds();
    memcpy(to, from, n / 2);
    double s = tk_clock_seconds() - began;
    if (s > 0 && (double)n / s > best) best = (double)n / s;
    from[i]++;
  }
  e->alloc(e->alloc_ud, from, n, 0);
  return best;
}

/* ---- the file ------------------------------------------------------------ */

/* The processor's name for itself. */
static const char *cpu_name(tk_arena *a) {
  char line[256];
  const char *found = NULL;
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && !found && fgets(line, sizeof line, f)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    colon += 1 + strspn(colon + 1, " \t");
    found = tk_arena_strndup(a, colon, strcspn(colon, "\n"));
  }
  if (f) fclose(f);
  return found ? found : "unknown processor";
}

/* Accepts a number that some machine could have; otherwise 0. */
static double sensible(const json_t *v) {
  double x = json_number_value(v);
  return isfinite(x) && x > 1e6 && x < 1e18 ? x : 0;
}

static bool read_ceilings(const char *path, tk_profile_ceilings *c) {
  json_t *o = json_load_file(path, 0, NULL);
  const char *cpu = json_string_value(json_object_get(o, "cpu"));
  c->bandwidth = sensible(json_object_get(o, "bandwidth"));
  c->flops = sensible(json_object_get(o, "flops"));
  bool good = cpu && !strcmp(cpu, c->cpu) && c->bandwidth > 0 && c->flops > 0;
  json_decref(o);
  return good;
}

/* Whether it could be kept does not matter. */
static void keep_ceilings(const char *path, const tk_profile_ceilings *c) {
  json_t *o = json_pack("{s:s, s:f, s:f}", "cpu", c->cpu, "bandwidth",
                        c->bandwidth, "flops", c->flops);
  char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
  if (text) tk_outfile_save(path, text, strlen(text));
  free(text);
  json_decref(o);
}

tk_profile_ceilings tkf_ceilings(tk_arena *a) {
  char folder[PATH_MAX] = "";
  tk_profile_ceilings c = {.cpu = cpu_name(a)};
  bool has_folder = tk_cache_folder(folder, sizeof folder);
  const char *path = tk_arena_printf(a, "%s/ceilings.json", folder);
  if (has_folder && read_ceilings(path, &c)) return c;
  c.bandwidth = measure_bandwidth(a->env);
  c.flops = measure_flops();
  if (!has_folder || !(c.bandwidth > 0)) return c;
  tk_make_folders(folder);
  keep_ceilings(path, &c);
  return c;
}

/* ---- how near one comes to them ---------------------------------------- */

double tk_profile_intensity(const tk_profile_counts *c) {
  double bytes = (double)(c->read + c->written);
  return bytes > 0 ? (double)c->flops / bytes : 0;
}

double tk_profile_reached(const tk_profile_counts *c,
                          const tk_profile_ceilings *most) {
  double bytes = (double)(c->read + c->written), flops = (double)c->flops;
  if (!(most->bandwidth > 0) || !(most->flops > 0)) return -1;
  if (!(c->seconds > 0) || !(bytes + flops > 0)) return -1;
  double moved = bytes / most->bandwidth, computed = flops / most->flops;
  return (moved > computed ? moved : computed) / c->seconds;
}
