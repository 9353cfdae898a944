/* stages.c - what the compiler makes of a launch's kernel, as text beside it.
 *
 * Lines of these texts name lines of the source by themselves (docs/view.md);
 * the page reads them.  Launches of one program share its stages.
 */
#include "device/device.h"
#include "nvptx/nvptx.h"
#include "view/view.h"

/* FNV-1a over a text, in 64 bits: programs are told apart by their text, since
 * they may be gone when the next launch comes. */
static uint64_t hash_of(const tk_buf *text) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < text->n; i++)
    h = (h ^ (unsigned char)text->s[i]) * 1099511628211u;
  return h;
}

/* The launch of this page that has the stages of a program; if there is none,
 * this one is noted as the one that has them.  A launch that memory ran out for
 * was noted, but is not there. */
static size_t launch_with(tk_view *v, const tk_buf *form) {
  uint64_t hash = hash_of(form);
  tkw_staged *known = (tkw_staged *)v->staged.s;
  for (size_t i = 0; i < v->staged.n / sizeof *known; i++)
    if (known[i].hash == hash && known[i].launch < v->n) return known[i].launch;
  tkw_staged now = {hash, v->n};
  tk_buf_add(&v->staged, (const char *)&now, sizeof now);
  return v->n;
}

typedef struct taking {
  tk_buf *out;
  const char *of; /* begins the names: whose stages they are */
  size_t room;    /* bytes that are left for further texts */
  const char *comma;
} taking;

static void put_stage(void *ud, const char *name, const tk_buf *text,
                      const char *why) {
  taking *x = ud;
  tk_buf_printf(x->out, "%s\n{\"name\":\"%s%s\"", x->comma, x->of, name);
  x->comma = ",";
  if (text && text->n <= x->room) {
    x->room -= text->n;
    tk_buf_puts(x->out, ",\"text\":");
    tk_json_string(x->out, text->s, text->n);
  } else if (text) {
    tk_buf_printf(x->out, ",\"left_out\":%zu", text->n);
  } else if (why) {
    tk_buf_puts(x->out, ",\"why\":");
    tk_json_string(x->out, why, strlen(why));
  }
  tk_buf_putc(x->out, '}');
}

void tkw_put_stages(tk_buf *out, tk_view *v, const tki *t) {
  tk_buf_clear(&v->form);
  tk_program_print(&v->form, t->program);
  size_t launch = launch_with(v, &v->form);
  if (launch != v->n) {
    tk_buf_printf(out, ",\n\"stages\":%zu", launch);
    return;
  }
  size_t left = v->limit > v->launches.n ? v->limit - v->launches.n : 0;
  taking x = {out, "", left / (v->many ? 40 : 10), ""};
  tk_buf_puts(out, ",\n\"stages\":[");
  tkv_take_stages(out->env, t->program, put_stage, &x);
  if (v->triton) {
    x.of = "triton-";
    tkg_take_triton_stages(out->env, t->launch, put_stage, &x);
  }
  tk_buf_putc(out, ']');
}
