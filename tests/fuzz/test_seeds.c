/* test_seeds.c - every fuzz target on its seeds, and on some mutations of
 * them, the same on each run: what is left of fuzzing without clang.
 */
#include <dirent.h>
#include <stdio.h>

#include "fuzz.h"
#include "support/suite.h"

int fuzz_kernel(const uint8_t *data, size_t size);
int fuzz_condition(const uint8_t *data, size_t size);
int fuzz_argument(const uint8_t *data, size_t size);
int fuzz_npy(const uint8_t *data, size_t size);
int fuzz_launchfile(const uint8_t *data, size_t size);
int fuzz_parse(const uint8_t *data, size_t size);
int fuzz_pids(const uint8_t *data, size_t size);
int fuzz_command(const uint8_t *data, size_t size);
int fuzz_ir(const uint8_t *data, size_t size);
int fuzz_ptx(const uint8_t *data, size_t size);
int fuzz_relations(const uint8_t *data, size_t size);

#define LLVMFuzzerTestOneInput fuzz_kernel
#include "fuzz_kernel.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_condition
#include "fuzz_condition.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_argument
#include "fuzz_argument.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_npy
#include "fuzz_npy.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_launchfile
#include "fuzz_launchfile.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_parse
#include "fuzz_parse.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_pids
#include "fuzz_pids.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_command
#include "fuzz_command.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_ir
#include "fuzz_ir.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_ptx
#include "fuzz_ptx.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_relations
#include "fuzz_relations.c"
#undef LLVMFuzzerTestOneInput

enum { MUTATIONS = 200, MOST_BYTES = 1 << 16 };

typedef struct target {
  const char *name;
  int (*fn)(const uint8_t *data, size_t size);
} target;

static const target targets[] = {
    {"kernel", fuzz_kernel},
    {"condition", fuzz_condition},
    {"argument", fuzz_argument},
    {"npy", fuzz_npy},
    {"launchfile", fuzz_launchfile},
    {"parse", fuzz_parse},
    {"pids", fuzz_pids},
    {"command", fuzz_command},
    {"ir", fuzz_ir},
    {"ptx", fuzz_ptx},
    {"relations", fuzz_relations},
};

static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

/* Changes a byte, cuts the end off, or copies a piece over another. */
static size_t mutate(uint8_t *data, size_t n, uint32_t *state) {
  uint32_t at = next_random(state), what = next_random(state);
  if (!n) return 0;
  at %= (uint32_t)n;
  if (what % 4 == 0) return at;
  if (what % 4 == 1) {
    size_t from = next_random(state) % n;
    size_t room = n - (from > at ? from : at), most = what / 4 % 16;
    memmove(data + at, data + from, room < most ? room : most);
  } else {
    data[at] = (uint8_t)(what >> 8);
  }
  return n;
}

static void try_mutations(const target *t, const uint8_t *seed, size_t n) {
  uint32_t state = 2463534242u;
  for (int i = 0; i < MUTATIONS; i++) {
    uint8_t *copy = malloc(n + 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, seed, n);
    size_t left = n;
    for (uint32_t k = next_random(&state) % 4; k < 4; k++)
      left = mutate(copy, left, &state);
    t->fn(copy, left);
    free(copy);
  }
}

static void try_file(const target *t, const char *path) {
  static uint8_t data[MOST_BYTES];
  FILE *f = fopen(path, "rb");
  ck_assert_ptr_nonnull(f);
  size_t n = fread(data, 1, sizeof data, f);
  fclose(f);
  t->fn(data, n);
  try_mutations(t, data, n);
}

START_TEST(seeds) {
  const target *t = &targets[_i];
  char path[512];
  int files = 0;
  snprintf(path, sizeof path, "tests/fuzz/seeds/%s", t->name);
  DIR *dir = opendir(path);
  ck_assert_ptr_nonnull(dir);
  for (struct dirent *e; (e = readdir(dir));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "tests/fuzz/seeds/%s/%s", t->name, e->d_name);
    try_file(t, path);
    files++;
  }
  closedir(dir);
  ck_assert_int_gt(files, 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("fuzz seeds");
  TCase *c = tcase_create("seeds");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, seeds, 0, sizeof targets / sizeof *targets);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
