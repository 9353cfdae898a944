/* fuzz_npy.c - any bytes as a NumPy file. */
#include "fuzz.h"

#include "launch/internal.h"

typedef struct npy_input {
  tk_launch *launch;
  const uint8_t *data;
  size_t size;
} npy_input;

static void load(tk_env *e, void *ud) {
  npy_input *in = ud;
  tkn_reader r = {
      .env = e, .name = "fuzz.npy", .mem = in->data, .size = in->size};
  tkn_npy_load(&r, in->launch, tkn_arg_named(in->launch, "x"), NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  npy_input in = {fuzz_launch(s), data, size};
  tk_protect(&s->env, load, &in);
  fuzz_end(s);
  return 0;
}
