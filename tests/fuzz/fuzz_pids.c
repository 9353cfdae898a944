/* fuzz_pids.c - any text as conditions and as an order; both ways of reporting
 * must agree, and an order must be a permutation. */
#include "fuzz.h"

#include "launch/session.h"

typedef struct pids_input {
  tk_session *session;
  const char *text;
  size_t len;
} pids_input;

static void check_order(tk_env *e, const char *text, uint64_t n) {
  uint8_t seen[64] = {0};
  tk_order o;
  if (!tk_order_parse(e, text, n, &o)) return;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t at = tk_order_at(&o, i);
    if (at >= n || seen[at]++) abort();
  }
}

static void parse(tk_env *e, void *ud) {
  pids_input *in = ud;
  tk_pids a, b;
  tk_arena *arena = &in->session->arena;
  bool placed = tk_pids_parse_in(e, arena, "--pid", in->text, in->len, &a);
  bool quoted = tk_pids_parse(e, in->text, in->len, &b);
  if (in->len < 256 && placed != quoted) abort();
  for (int64_t i = -1; placed && quoted && i < 5; i++) {
    int64_t pid[3] = {i, 4 - i, i * i};
    if (tk_pids_match(&a, pid) != tk_pids_match(&b, pid)) abort();
  }
  check_order(e, in->text, 1 + in->len % 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tk_session *s = fuzz_session();
  char *text = fuzz_text(data, size);
  pids_input in = {s, text, size};
  tk_protect(&s->env, parse, &in);
  free(text);
  fuzz_end(s);
  return 0;
}
