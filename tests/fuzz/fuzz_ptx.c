/* fuzz_ptx.c - any text as PTX: what is accepted runs, for a few steps. */
#include "base/env.h"
#include "fuzz.h"
#include "ptx/ptx.h"

enum { FUZZ_BYTES = 4096, FUZZ_PARAMS = 16 };

typedef struct ptx_input {
  tk_arena arena;
  const uint8_t *data;
  size_t size;
} ptx_input;

static void read_and_run(tk_env *e, void *ud) {
  ptx_input *in = ud;
  tkp_entry_info info;
  (void)e;
  tkp_program *p =
      tkp_parse(&in->arena, "fuzz.ptx", (const char *)in->data, in->size);
  for (size_t i = 0; tkp_entry(p, i, &info); i++) {
    char *memory = tk_arena_alloc(&in->arena, FUZZ_BYTES);
    const void *params[FUZZ_PARAMS];
    uint64_t zeros[512] = {(uint64_t)(uintptr_t)memory};
    tkp_range range = {zeros[0], FUZZ_BYTES, "memory", true, NULL};
    for (size_t k = 0; k < FUZZ_PARAMS; k++) {
      params[k] = zeros;
      if (tkp_param_size(p, i, k) > sizeof zeros) return;
    }
    tkp_launch l = {.entry = info.name,
                    .grid = {2, 1, 1},
                    .block = {64, 1, 1},
                    .dynamic_shared = 1024,
                    .params = params,
                    .nparams = info.nparams,
                    .ranges = &range,
                    .nranges = 1,
                    .steps = 20000};
    for (int a = 0; a < 3; a++)
      if (info.threads[a]) l.block[a] = info.threads[a];
    if (info.nparams <= FUZZ_PARAMS) tkp_run(p, &l, NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_env e;
  tk_env_init(&e, fuzz_alloc, NULL);
  ptx_input in = {.data = data, .size = size};
  tk_arena_init(&in.arena, &e);
  tk_protect(&e, read_and_run, &in);
  tk_diag_clear(&e);
  tk_arena_free(&in.arena);
  if (e.held) abort();
  return 0;
}
