/* memory.c - bytes of tensors, in base 64. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "gdbstub/dap/dap.h"

enum { MOST = 1 << 20 /* bytes of one answer */ };

static const char *to_base64(dap *p, const unsigned char *s, size_t n) {
  tk_buf_clear(&p->text);
  tk_put_base64(&p->text, s, n);
  return tk_buf_str(&p->text);
}

/* Reads an address from the request; returns false after reporting that it is
 * not one. */
static bool memory_address(dap *p, const json_t *args, uint64_t *address) {
  const char *text = dap_string(args, "memoryReference", "");
  char *end;
  *address = strtoull(text, &end, 0);
  if (end == text || *end) {
    dap_fail(p,
             "memoryReference must be an address such as 0x100000000000, "
             "not '%s'",
             text);
    return false;
  }
  *address += (uint64_t)dap_integer(args, "offset", 0);
  return true;
}

/* How many of the n bytes from an address on belong to one tensor. */
static size_t readable(dap *p, uint64_t address, json_int_t n) {
  tk_debug_region r;
  if (n <= 0 || !dap_region_of(p, address, &r)) return 0;
  uint64_t left = r.address + r.size - address;
  return (uint64_t)n < left ? (size_t)n : (size_t)left;
}

json_t *dap_on_readMemory(dap *p, const json_t *args) {
  uint64_t address;
  json_int_t wanted = dap_integer(args, "count", 0);
  if (!memory_address(p, args, &address)) return NULL;
  size_t n = readable(p, address, wanted < MOST ? wanted : MOST);
  unsigned char *bytes = tk_arena_alloc(&p->scratch, n + 1);
  if (n && tk_debug_read(p->d, address, bytes, n) != TK_OK)
    return dap_fail_engine(p);
  json_t *body = json_pack("{s:s, s:s}", "address",
                           tk_arena_printf(&p->scratch, "0x%" PRIx64, address),
                           "data", to_base64(p, bytes, n));
  if (wanted > (json_int_t)n)
    json_object_set_new(body, "unreadableBytes",
                        json_integer(wanted - (json_int_t)n));
  return body;
}

json_t *dap_on_writeMemory(dap *p, const json_t *args) {
  uint64_t address;
  size_t n;
  const char *data = dap_string(args, "data", "");
  unsigned char *bytes = tk_arena_alloc(&p->scratch, strlen(data) + 1);
  if (!memory_address(p, args, &address)) return NULL;
  if (!tk_read_base64(data, bytes, &n))
    return dap_fail(p, "writeMemory: 'data' is not base 64");
  if (n && tk_debug_write(p->d, address, bytes, n) != TK_OK)
    return dap_fail_engine(p);
  if (p->client.invalidates)
    dap_wire_event(&p->wire, "invalidated",
                   json_pack("{s:[s]}", "areas", "variables"));
  return json_pack("{s:I}", "bytesWritten", (json_int_t)n);
}
