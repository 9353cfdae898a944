/* fuzz_launchfile.c - any bytes as a launch file. */
#include "fuzz.h"

#include "launch/internal.h"

typedef struct file_input {
  tk_session *session;
  const uint8_t *data;
  size_t size;
} file_input;

static void replay(tk_env *e, void *ud) {
  file_input *in = ud;
  tkn_reader r = {
      .env = e, .name = "fuzz.safetensors", .mem = in->data, .size = in->size};
  tkn_replay(in->session, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  file_input in = {s, data, size};
  tk_protect(&s->env, replay, &in);
  fuzz_end(s);
  return 0;
}
