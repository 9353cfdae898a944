/* page.c - the data as a whole, and the page that draws it.
 *
 * The page is a frame, the data, and the modules and the style of this folder,
 * which the build makes strings of; the modules draw everything.
 */
#include "view/view.h"

static const char style[] =
#include "view.css.inc"
    ;

static const char script[] =
#include "view.js.inc"
    ;

static const char before[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>tkdbg view</title>\n<style>\n";

size_t tkw_page_bytes(void) {
  return sizeof before + sizeof style + sizeof script + 1000;
}

void tkw_put_json(tk_buf *out, const tk_view *v) {
  tk_buf_printf(out,
                "{\"format\":\"tkdbg view\",\"version\":%d,\"tkdbg\":\"%s\","
                "\"skipped\":%zu,\n\"launches\":[",
                TKW_VERSION, tk_version(), v->skipped);
  if (v->n) tk_buf_add(out, v->launches.s, v->launches.n);
  tk_buf_puts(out, "]}\n");
}

/* The data stand in an element, which "</" would end. */
static void put_data(tk_buf *out, const tk_buf *data) {
  size_t from = 0;
  for (size_t i = 0; i < data->n; i++) {
    if (data->s[i] != '<') continue;
    tk_buf_add(out, data->s + from, i - from);
    tk_buf_puts(out, "\\u003c");
    from = i + 1;
  }
  tk_buf_add(out, data->s + from, data->n - from);
}

void tkw_put_html(tk_buf *out, const tk_buf *data) {
  tk_buf_puts(out, before);
  tk_buf_puts(out, style);
  tk_buf_puts(out, "</style>\n</head>\n<body>\n"
                   "<noscript>This page is drawn by its script.</noscript>\n"
                   "<script type=\"application/json\" id=\"data\">");
  put_data(out, data);
  tk_buf_puts(out, "</script>\n<script type=\"module\">\n");
  tk_buf_puts(out, script);
  tk_buf_puts(out, "</script>\n</body>\n</html>\n");
}
