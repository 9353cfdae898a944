/* launch_option.c - launch.def: options of a launch, by name. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const tk_launch_option_info rows[TK_LAUNCH_OPTIONS] = {
#define LAUNCH_OPTION(ID, name, usual, least, most, power, doc)                \
  {#name, usual, least, most, power, doc},
#include "tkdbg/launch.def"
#undef LAUNCH_OPTION
};

const tk_launch_option_info *tk_launch_option_at(size_t i) {
  return i < TK_LAUNCH_OPTIONS ? &rows[i] : NULL;
}

int tk_launch_option_find(const char *name) {
  for (int i = 0; i < TK_LAUNCH_OPTIONS; i++)
    if (!strcmp(rows[i].name, name)) return i;
  return -1;
}

bool tk_launch_option_fits(int i, int64_t value) {
  const tk_launch_option_info *o = &rows[i];
  return value >= o->least && value <= o->most &&
         !(o->power && value & (value - 1));
}

void tk_launch_options_usual(int64_t *out) {
  for (int i = 0; i < TK_LAUNCH_OPTIONS; i++) out[i] = rows[i].usual;
}

/* ---- of a launch -----------------------------------------------------------
 */

typedef struct option_call {
  tk_launch *l;
  const char *name;
  int64_t value;
  const char *text;
} option_call;

static void bad_option(tk_env *e, const char *help, const char *fmt, ...)
    TK_PRINTF(3, 4) TK_NORETURN;
static void bad_option(tk_env *e, const char *help, const char *fmt, ...) {
  va_list ap;
  char message[300];
  va_start(ap, fmt);
  vsnprintf(message, sizeof message, fmt, ap);
  va_end(ap);
  tk_diag *d =
      tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0}, "%s", message);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_USAGE);
}

static int need_option(tk_launch *l, const char *name) {
  int i = tk_launch_option_find(name);
  if (i >= 0) return i;
  tk_nearest near = tk_nearest_start(name);
  for (int k = 0; k < TK_LAUNCH_OPTIONS; k++)
    tk_nearest_try(&near, rows[k].name);
  const char *best = tk_nearest_best(&near);
  bad_option(&l->session->env,
             best ? tk_arena_printf(&l->arena, "did you mean %s?", best) : NULL,
             "'%.60s' is no launch option", name);
}

void tkn_launch_option(tk_launch *l, const char *name, int64_t value) {
  int i = need_option(l, name);
  const tk_launch_option_info *o = &rows[i];
  if (!tk_launch_option_fits(i, value))
    bad_option(&l->session->env, NULL,
               "%s is %lld; it must be a %s from %lld to %lld", name,
               (long long)value, o->power ? "power of two" : "number",
               (long long)o->least, (long long)o->most);
  l->options[i] = value;
}

static void set_option(tk_env *e, void *ud) {
  option_call *c = ud;
  (void)e;
  tkn_launch_option(c->l, c->name, c->value);
}

tk_status tk_launch_option(tk_launch *l, const char *name, int64_t value) {
  option_call c = {.l = l, .name = name, .value = value};
  return tk_session_guard(l->session, set_option, &c);
}

static void read_option(tk_env *e, void *ud) {
  option_call *c = ud;
  const char *equals = strchr(c->text, '=');
  char *end;
  if (!equals || !equals[1])
    bad_option(e, "as in num_stages=2", "'%.100s' is not NAME=NUMBER", c->text);
  const char *name =
      tk_arena_strndup(&c->l->arena, c->text, (size_t)(equals - c->text));
  int64_t value = strtoll(equals + 1, &end, 10);
  need_option(c->l, name);
  if (*end)
    bad_option(e, "as in num_stages=2", "'%.100s' is no number", equals + 1);
  tkn_launch_option(c->l, name, value);
}

tk_status tk_launch_option_text(tk_launch *l, const char *text) {
  option_call c = {.l = l, .text = text};
  return tk_session_guard(l->session, read_option, &c);
}
