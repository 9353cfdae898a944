/* settings.c - what the user sets: setting.def. */
#include <string.h>

#include "debug/debug.h"
#include "interp/check/check.h"

/* ---- each of them ------------------------------------------------------ */

static uint64_t in_range(tkd *d, const char *text, uint64_t lo, uint64_t hi) {
  uint64_t n = tkd_number(d, text, 0);
  if (!*text || n < lo || n > hi)
    tkd_fail(d, "A number from %llu to %llu was expected.",
             (unsigned long long)lo, (unsigned long long)hi);
  return n;
}

static void say_number(tkd *d, uint64_t n) {
  tkd_say(d, "%llu", (unsigned long long)n);
}

static void set_ELEMENTS(tkd *d, const char *value) {
  bool all = !strcmp(value, "unlimited") || !strcmp(value, "0");
  d->set.elements = all ? UINT32_MAX : in_range(d, value, 1, 1 << 20);
}

static void show_ELEMENTS(tkd *d) {
  if (d->set.elements == UINT32_MAX)
    tkd_say(d, "unlimited");
  else
    say_number(d, d->set.elements);
}

static void set_LISTSIZE(tkd *d, const char *value) {
  d->set.listing = in_range(d, value, 1, 10000);
}

static void show_LISTSIZE(tkd *d) {
  say_number(d, d->set.listing);
}

static void set_WIDTH(tkd *d, const char *value) {
  d->set.width = in_range(d, value, 20, 1000);
}

static void show_WIDTH(tkd *d) {
  say_number(d, (uint64_t)tkd_width(d));
}

static void set_CHANGES(tkd *d, const char *value) {
  bool on = !strcmp(value, "on");
  if (!on && strcmp(value, "off") != 0) tkd_fail(d, "set changes on|off");
  d->set.changes = on;
}

static void show_CHANGES(tkd *d) {
  tkd_say(d, d->set.changes ? "on" : "off");
}

/* What happens unrecorded cannot be undone, nor what was before it. */
static void set_HISTORY(tkd *d, const char *value) {
  d->set.history = in_range(d, value, 0, 1 << 20) << 20;
  if (d->set.history) return;
  d->nbases = 0;
  tkd_journal_clear(d->journal);
}

static void show_HISTORY(tkd *d) {
  say_number(d, d->set.history >> 20);
}

/* From the next launch on, or from the next 'run'. */
static void set_ORDER(tkd *d, const char *value) {
  tk_order order;
  if (!*value) tkd_fail(d, "set order serial|reverse|shuffle:SEED");
  if (!tk_order_parse(d->env, value, 1, &order)) tk_throw(d->env, TK_USAGE);
  tkd_set_text(d, &d->set.order, value);
  if (d->t)
    tkd_say(d, "From the next launch on; 'run' begins this one again.\n");
}

static void show_ORDER(tkd *d) {
  tkd_say(d, "%s", d->set.order ? d->set.order : "as --order says");
}

static void set_SAFE_PATH(tkd *d, const char *value) {
  tkd_set_text(d, &d->set.safe_path, value);
}

static void show_SAFE_PATH(tkd *d) {
  tkd_say(d, "%s", d->set.safe_path ? d->set.safe_path : "");
}

/* Detectors see a launch from its beginning: one that runs is run again up to
 * here, with them. */
static void set_CHECK(tkd *d, const char *list) {
  if (!*list) tkd_fail(d, "set check LIST, set check all, or set check off");
  bool begun = d->t && (d->nbases || d->event);
  if (begun && (!d->nbases || d->bases[0].event))
    tkd_fail(d, "Detectors need the beginning of the launch, whose history was "
                "dropped: 'set check'\ncomes before it, and 'set history'.");
  tkc_choose(d->session, strcmp(list, "off") ? list : NULL);
  tkd_say_asleep(d);
  if (!begun) return;
  tkd_watch_again(d);
  size_t n = d->env->ndiags;
  tkd_say(d, "%zu finding%s so far\n", n, n == 1 ? "" : "s");
}

static void show_CHECK(tkd *d) {
  const char *separator = "";
  for (size_t i = 0; tk_check_name(i); i++) {
    if (!tkc_is_on(d->session, (tkc_id)i)) continue;
    tkd_say(d, "%s%s", separator, tk_check_name(i));
    separator = ",";
  }
  if (!*separator) tkd_say(d, "off");
}

/* ---- all of them ------------------------------------------------------- */

static const struct setting {
  const char *name, *value, *doc;
  void (*set)(tkd *d, const char *value);
  void (*show)(tkd *d);
} settings[] = {
#define SETTING(id, name, value, doc) {name, value, doc, set_##id, show_##id},
#include "command/setting.def"
#undef SETTING
};

const char *tkd_setting_name(size_t i) {
  return i < TK_COUNT(settings) ? settings[i].name : NULL;
}

void tkd_info_settings(tkd *d) {
  for (size_t i = 0; i < TK_COUNT(settings); i++) {
    tkd_say(d, "%s ", settings[i].name);
    settings[i].show(d);
    tkd_say(d, "\n");
  }
}

bool tkd_set_setting(tkd *d, const char *text) {
  for (size_t i = 0; i < TK_COUNT(settings); i++) {
    size_t n = strlen(settings[i].name);
    if (strncmp(text, settings[i].name, n) || (text[n] && text[n] != ' '))
      continue;
    settings[i].set(d, text + n + strspn(text + n, " "));
    return true;
  }
  return false;
}

const char *tkd_settings_usage(tkd *d) {
  tk_buf *b = tkd_temp_buf(d);
  for (size_t i = 0; i < TK_COUNT(settings); i++)
    tk_buf_printf(b, "%s%s %s", i ? ", " : "", settings[i].name,
                  settings[i].value);
  return tk_buf_str(b);
}

void tkd_help_settings(tkd *d) {
  for (size_t i = 0; i < TK_COUNT(settings); i++)
    tkd_say(d, "  set %s %s\n      %s\n", settings[i].name, settings[i].value,
            settings[i].doc);
}
