/* page.c - the data as a whole, and the page that draws it. */
#include "page/page.h"

#include "base/base64.h"
#include "base/deflate.h"
#include "tkdbg/tkdbg.h"

enum { VERSION = 1 }; /* of the data */

static const char style[] =
#include "page.css.inc"
    ;

static const char script[] =
#include "page.js.inc"
    ;

static const char before[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>tkdbg view</title>\n<style>\n";

size_t tk_page_bytes(void) {
  return sizeof before + sizeof style + sizeof script + 1000;
}

void tk_page_put_json(tk_buf *out, const tk_page_data *d) {
  tk_buf_printf(out,
                "{\"format\":\"tkdbg view\",\"version\":%d,\"tkdbg\":\"%s\","
                "\"skipped\":%zu,\n\"launches\":[",
                VERSION, tk_version(), d->skipped);
  if (d->launches && d->launches->n)
    tk_buf_add(out, d->launches->s, d->launches->n);
  tk_buf_putc(out, ']');
  if (d->parts && d->parts->n) tk_buf_add(out, d->parts->s, d->parts->n);
  tk_buf_puts(out, "}\n");
}

/* The data stand in an element, made shorter (data.js). */
static void put_data(tk_buf *out, tk_buf *bytes, const tk_buf *data) {
  tk_buf_clear(bytes);
  tk_put_deflated(bytes, data->s, data->n);
  tk_buf_printf(out, "<script type=\"text/plain\" id=\"data\">");
  tk_put_base64(out, bytes->s, bytes->n);
}

void tk_page_put_html(tk_buf *out, tk_buf *bytes, const tk_buf *json) {
  tk_buf_puts(out, before);
  tk_buf_puts(out, style);
  tk_buf_puts(out, "</style>\n</head>\n<body>\n"
                   "<noscript>This page is drawn by its script.</noscript>\n");
  put_data(out, bytes, json);
  tk_buf_puts(out, "</script>\n<script type=\"module\">\n");
  tk_buf_puts(out, script);
  tk_buf_puts(out, "</script>\n</body>\n</html>\n");
}
