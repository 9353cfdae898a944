/* json.c - a profile as one JSON object: docs/profile.md lists its keys.
 *
 * JSON is jansson's work; its nodes are on the C heap.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

/* Text of a source file may be any bytes. */
static json_t *json_text(const char *s, size_t n) {
  json_t *text = json_stringn(s, n);
  if (text) return text;
  char *plain = malloc(n + 1);
  for (size_t i = 0; plain && i < n; i++)
    plain[i] = (unsigned char)s[i] < 0x80 ? s[i] : '?';
  text = plain ? json_stringn(plain, n) : NULL;
  free(plain);
  return text;
}

static void set_text(json_t *o, const char *key, const char *s) {
  if (s) json_object_set_new(o, key, json_text(s, strlen(s)));
}

static void set_counts(json_t *o, const tk_profile_data *d,
                       const tk_profile_counts *c) {
  const struct {
    const char *key;
    uint64_t value;
  } numbers[] = {
      {"calls", c->calls},           {"bytes_read", c->read},
      {"bytes_written", c->written}, {"lanes", c->lanes},
      {"lanes_off", c->off},         {"flops", c->flops},
      {"blocks", c->blocks},         {"blocks_not_written", c->known},
      {"accesses_by_rows", c->rows}};
  double reached = tk_profile_reached(c, &d->ceilings);
  json_object_set_new(o, "seconds", json_real(c->seconds));
  for (size_t i = 0; i < TK_COUNT(numbers); i++)
    json_object_set_new(o, numbers[i].key,
                        json_integer((json_int_t)numbers[i].value));
  bool moves = c->read + c->written > 0;
  json_object_set_new(o, "intensity",
                      moves ? json_real(tk_profile_intensity(c)) : json_null());
  json_object_set_new(o, "of_ceiling",
                      reached >= 0 ? json_real(reached) : json_null());
}

static json_t *json_op(const tk_profile_data *d, const tk_profile_op *op) {
  json_t *o = json_object();
  set_text(o, "name", op->name);
  set_text(o, "type", op->type);
  set_text(o, "in", op->function);
  json_object_set_new(o, "column", json_integer(op->place.column));
  set_counts(o, d, &op->counts);
  return o;
}

static json_t *json_line(const tk_profile_data *d, const tk_profile_line *l) {
  json_t *o = json_object(), *ops = json_array();
  json_object_set_new(o, "line", json_integer(l->place.line));
  json_object_set_new(o, "text",
                      json_text(l->place.text, l->place.text_length));
  if (l->place.origin) set_text(o, "origin", l->place.origin);
  json_object_set_new(o, "total_seconds", json_real(l->total));
  set_counts(o, d, &l->counts);
  for (size_t i = 0; i < l->nops; i++)
    json_array_append_new(ops, json_op(d, &l->ops[i]));
  json_object_set_new(o, "operations", ops);
  return o;
}

/* Its lines, from the first to the last. */
static json_t *json_source(const tk_profile_function *f) {
  json_t *lines = json_array();
  const char *text = f->place.text;
  for (int line = f->place.line; text && line <= f->last_line; line++) {
    size_t n = strcspn(text, "\n");
    bool returns = n && text[n - 1] == '\r';
    json_array_append_new(lines, json_text(text, n - returns));
    if (!text[n]) break;
    text += n + 1;
  }
  return lines;
}

static json_t *json_function(const tk_profile_data *d,
                             const tk_profile_function *f) {
  json_t *o = json_object(), *lines = json_array(), *remarks = json_array();
  set_text(o, "name", f->name);
  set_text(o, "file", f->place.file);
  json_object_set_new(o, "line", json_integer(f->place.line));
  json_object_set_new(o, "source", json_source(f));
  json_object_set_new(o, "kernel", json_boolean(f->kernel));
  json_object_set_new(o, "calls", json_integer((json_int_t)f->calls));
  json_object_set_new(o, "launches", json_integer((json_int_t)f->launches));
  json_object_set_new(o, "seconds", json_real(f->seconds));
  json_object_set_new(o, "total_seconds", json_real(f->total));
  for (size_t i = 0; i < f->nlines; i++)
    json_array_append_new(lines, json_line(d, &f->lines[i]));
  json_object_set_new(o, "lines", lines);
  for (size_t i = 0; i < f->nremarks; i++)
    json_array_append_new(remarks,
                          json_text(f->remarks[i], strlen(f->remarks[i])));
  json_object_set_new(o, "remarks", remarks);
  return o;
}

/* Its parent, by its number. */
static json_t *json_node(const tk_profile_node *n) {
  static const char *const kinds[] = {"function", "line", "library",
                                      "operation"};
  json_t *o = json_object();
  set_text(o, "kind", kinds[n->kind]);
  json_object_set_new(o, "parent",
                      n->parent < 0 ? json_null() : json_integer(n->parent));
  set_text(o, "name", n->name);
  set_text(o, "type", n->type);
  json_object_set_new(o, "line", json_integer(n->place.line));
  json_object_set_new(o, "total_seconds", json_real(n->total));
  return o;
}

static json_t *json_profile(const tk_profile_data *d) {
  json_t *o = json_object(), *functions = json_array(), *tree = json_array();
  json_t *total = json_object(), *most = json_object();
  json_object_set_new(o, "launches", json_integer((json_int_t)d->launches));
  json_object_set_new(o, "programs", json_integer((json_int_t)d->programs));
  json_object_set_new(o, "seconds", json_real(d->seconds));
  json_object_set_new(o, "timer_seconds", json_real(d->timer));
  json_object_set_new(o, "paused_seconds", json_real(d->paused));
  set_counts(total, d, &d->counts);
  json_object_set_new(o, "total", total);
  set_text(most, "cpu", d->ceilings.cpu);
  json_object_set_new(most, "bytes_per_second",
                      json_real(d->ceilings.bandwidth));
  json_object_set_new(most, "flops_per_second", json_real(d->ceilings.flops));
  json_object_set_new(o, "ceilings", most);
  for (size_t i = 0; i < d->nfunctions; i++)
    json_array_append_new(functions, json_function(d, &d->functions[i]));
  json_object_set_new(o, "functions", functions);
  for (size_t i = 0; i < d->nnodes; i++)
    json_array_append_new(tree, json_node(&d->nodes[i]));
  json_object_set_new(o, "tree", tree);
  return o;
}

void tkf_write_json(tk_buf *out, const tk_profile_data *d, bool colour) {
  json_t *o = json_profile(d);
  char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
  (void)colour;
  json_decref(o);
  if (!text) tk_throw(out->env, TK_INTERNAL);
  tk_buf_puts(out, text);
  tk_buf_putc(out, '\n');
  free(text);
}
