/* settings.c - what the user sets: setting.def. */
#include "command/settings.h"

#include <string.h>

#include "command/operand.h"
#include "command/say.h"
#include "command/show.h"

/* ---- each of them ------------------------------------------------------ */

static uint64_t in_range(tkt *d, const char *text, uint64_t lo, uint64_t hi) {
  uint64_t n = tkt_number(d, text, 0);
  if (!*text || n < lo || n > hi)
    tkt_fail(d, "A number from %llu to %llu was expected.",
             (unsigned long long)lo, (unsigned long long)hi);
  return n;
}

static void say_number(tkt *d, uint64_t n) {
  tkt_say(d, "%llu", (unsigned long long)n);
}

static void set_ELEMENTS(tkt *d, const char *value) {
  bool all = !strcmp(value, "unlimited") || !strcmp(value, "0");
  d->set.elements = all ? UINT32_MAX : in_range(d, value, 1, 1 << 20);
}

static void show_ELEMENTS(tkt *d) {
  if (d->set.elements == UINT32_MAX)
    tkt_say(d, "unlimited");
  else
    say_number(d, d->set.elements);
}

static void set_LISTSIZE(tkt *d, const char *value) {
  d->set.listing = in_range(d, value, 1, 10000);
}

static void show_LISTSIZE(tkt *d) {
  say_number(d, d->set.listing);
}

static void set_WIDTH(tkt *d, const char *value) {
  d->set.width = in_range(d, value, 20, 1000);
}

static void show_WIDTH(tkt *d) {
  say_number(d, (uint64_t)tkt_width(d));
}

static void set_CHANGES(tkt *d, const char *value) {
  bool on = !strcmp(value, "on");
  if (!on && strcmp(value, "off") != 0) tkt_fail(d, "set changes on|off");
  d->set.changes = on;
}

static void show_CHANGES(tkt *d) {
  tkt_say(d, d->set.changes ? "on" : "off");
}

static void set_HISTORY(tkt *d, const char *value) {
  tk_debug_history(d->e, in_range(d, value, 0, 1 << 20) << 20);
}

static void show_HISTORY(tkt *d) {
  tk_debug_time now;
  tk_debug_when(d->e, &now);
  say_number(d, now.most >> 20);
}

static void set_LAUNCHES(tkt *d, const char *value) {
  tk_debug_keep_launches(d->e, in_range(d, value, 0, 1 << 20) << 20);
}

static void show_LAUNCHES(tkt *d) {
  say_number(d, tk_debug_launches_kept(d->e) >> 20);
}

/* From the next launch on, or from the next 'run'. */
static void set_ORDER(tkt *d, const char *value) {
  if (!*value) tkt_fail(d, "set order serial|reverse|shuffle:SEED");
  tkt_need(d, tk_debug_order(d->e, value));
  if (tk_debug_launch(d->e))
    tkt_say(d, "This holds from the next launch on; 'run' begins this one "
               "again.\n");
}

static void show_ORDER(tkt *d) {
  const char *order = tk_debug_order_of(d->e);
  tkt_say(d, "%s", order ? order : "as --order says");
}

static void set_SAFE_PATH(tkt *d, const char *value) {
  tk_text_set(d->env, &d->set.safe_path, value);
}

static void show_SAFE_PATH(tkt *d) {
  tkt_say(d, "%s", d->set.safe_path ? d->set.safe_path : "");
}

/* Detectors see a launch from its beginning: one that runs is run again up to
 * here, with them. */
static void set_CHECK(tkt *d, const char *list) {
  if (!*list) tkt_fail(d, "set check LIST, set check all, or set check off");
  tk_debug_time now;
  tk_debug_when(d->e, &now);
  bool begun = tk_debug_launch(d->e) && (now.first || now.event);
  tkt_need(d, tk_debug_check(d->e, strcmp(list, "off") ? list : NULL));
  tkt_say_inactive(d);
  if (!begun) return;
  size_t n = d->env->ndiags;
  tkt_say(d, "%zu finding%s so far\n", n, n == 1 ? "" : "s");
}

static void show_CHECK(tkt *d) {
  const char *separator = "";
  for (size_t i = 0; tk_check_name(i); i++) {
    if (!tk_debug_is_checked(d->e, tk_check_name(i))) continue;
    tkt_say(d, "%s%s", separator, tk_check_name(i));
    separator = ",";
  }
  if (!*separator) tkt_say(d, "off");
}

/* ---- all of them ------------------------------------------------------- */

static const struct setting {
  const char *name, *value, *doc;
  void (*set)(tkt *d, const char *value);
  void (*show)(tkt *d);
} settings[] = {
#define SETTING(id, name, value, doc) {name, value, doc, set_##id, show_##id},
#include "command/setting.def"
#undef SETTING
};

const char *tkt_setting_name(size_t i) {
  return i < TK_COUNT(settings) ? settings[i].name : NULL;
}

void tkt_info_settings(tkt *d) {
  for (size_t i = 0; i < TK_COUNT(settings); i++) {
    tkt_say(d, "%s ", settings[i].name);
    settings[i].show(d);
    tkt_say(d, "\n");
  }
}

bool tkt_set_setting(tkt *d, const char *text) {
  for (size_t i = 0; i < TK_COUNT(settings); i++) {
    size_t n = strlen(settings[i].name);
    if (strncmp(text, settings[i].name, n) || (text[n] && text[n] != ' '))
      continue;
    settings[i].set(d, text + n + strspn(text + n, " "));
    return true;
  }
  return false;
}

const char *tkt_settings_usage(tkt *d) {
  tk_buf *b = tk_temp_buf(&d->mem);
  for (size_t i = 0; i < TK_COUNT(settings); i++)
    tk_buf_printf(b, "%s%s %s", i ? ", " : "", settings[i].name,
                  settings[i].value);
  return tk_buf_str(b);
}

void tkt_help_settings(tkt *d) {
  for (size_t i = 0; i < TK_COUNT(settings); i++)
    tkt_say(d, "  set %s %s\n      %s\n", settings[i].name, settings[i].value,
            settings[i].doc);
}
