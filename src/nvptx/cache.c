/* cache.c - a file for each key, in the folder of base/cache_folder.h. */
#include "nvptx/cache.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache_folder.h"
#include "base/outfile.h"
#include "tkdbg/compile.h"

/* This number grows with every fix of the generated code, so that wrong code
 * that was cached before is not used. */
static const char ending[] = ".ptx", magic[] = "tkdbg-code 4";

/* ---- keys ---------------------------------------------------------------- */

/* FNV-1a, twice, with different initial values. */
tkv_key tkv_new_key(void) {
  return (tkv_key){
      {UINT64_C(0xcbf29ce484222325), UINT64_C(0x9ae16a3b2f90404f)}};
}

void tkv_add_to_key(tkv_key *k, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++)
    for (int j = 0; j < 2; j++)
      k->hash[j] = (k->hash[j] ^ p[i]) * UINT64_C(0x100000001b3);
  uint64_t size = n; /* where one part ends */
  for (int j = 0; j < 2; j++)
    k->hash[j] = (k->hash[j] ^ size) * UINT64_C(0x100000001b3);
}

static uint64_t checksum(const char *bytes, size_t n) {
  tkv_key k = tkv_new_key();
  tkv_add_to_key(&k, bytes, n);
  return k.hash[0];
}

/* ---- files --------------------------------------------------------------- */

static bool file_of_key(char *out, size_t size, const tkv_key *k) {
  size_t n;
  if (!tk_cache_folder(out, size)) return false;
  n = strlen(out);
  return (size_t)snprintf(out + n, size - n, "/%016" PRIx64 "%016" PRIx64 "%s",
                          k->hash[0], k->hash[1], ending) < size - n;
}

/* What follows the first line, if that line says so. */
static bool take_contents(tk_buf *out, const char *bytes, size_t n) {
  uint64_t size, sum;
  const char *line = memchr(bytes, '\n', n);
  if (!line || strncmp(bytes, magic, strlen(magic))) return false;
  if (sscanf(bytes + strlen(magic), " %" SCNu64 " %" SCNx64, &size, &sum) != 2)
    return false;
  const char *from = line + 1;
  if (size != n - (size_t)(from - bytes) || checksum(from, size) != sum)
    return false;
  tk_buf_add(out, from, size);
  return true;
}

typedef struct reading {
  FILE *f;
  tk_buf *all;
} reading;

static void read_all(tk_env *e, void *ud) {
  const reading *r = ud;
  char piece[65536];
  (void)e;
  tk_buf_clear(r->all);
  for (size_t n; (n = fread(piece, 1, sizeof piece, r->f));)
    tk_buf_add(r->all, piece, n);
}

/* Opens the file of a key; NULL if there is none. Anything that is not a
 * regular file counts as none, because reading it might block or never end. */
static FILE *open_entry(const char *path) {
  struct stat st;
  if (stat(path, &st) || !S_ISREG(st.st_mode)) return NULL;
  return fopen(path, "rb");
}

bool tkv_cache_read(tk_buf *out, tk_buf *all, const tkv_key *k) {
  char path[4096];
  FILE *f = file_of_key(path, sizeof path, k) ? open_entry(path) : NULL;
  if (!f) return false;
  reading r = {f, all};
  tk_status st = tk_protect(out->env, read_all, &r);
  fclose(f);
  if (st != TK_OK) tk_throw(out->env, st);
  return take_contents(out, tk_buf_str(all), all->n);
}

void tkv_cache_write(tk_buf *all, const tkv_key *k, const char *bytes,
                     size_t n) {
  char path[4096];
  struct stat st;
  if (!tk_cache_folder(path, sizeof path)) return;
  tk_make_folders(path);
  if (!file_of_key(path, sizeof path, k)) return;
  if (!lstat(path, &st) && !S_ISREG(st.st_mode)) (void)unlink(path);
  tk_buf_clear(all);
  tk_buf_printf(all, "%s %zu %016" PRIx64 "\n", magic, n, checksum(bytes, n));
  tk_buf_add(all, bytes, n);
  (void)tk_outfile_save(path, tk_buf_str(all), all->n);
}

/* ---- the folder ---------------------------------------------------------- */

/* A file of ours: 32 digits and the ending, and perhaps what an interrupted
 * process left after that. */
static bool is_entry(const char *name) {
  return strspn(name, "0123456789abcdef") == 32 &&
         !strncmp(name + 32, ending, strlen(ending));
}

bool tk_cache_look(tk_cache_summary *out, bool clear) {
  struct stat st;
  char path[sizeof out->folder + 300];
  *out = (tk_cache_summary){0};
  if (!tk_cache_folder(out->folder, sizeof out->folder)) return false;
  DIR *d = opendir(out->folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (!is_entry(e->d_name)) continue;
    snprintf(path, sizeof path, "%s/%s", out->folder, e->d_name);
    if (lstat(path, &st) || S_ISDIR(st.st_mode)) continue;
    if (clear && unlink(path)) continue;
    out->entries++;
    out->bytes += (uint64_t)st.st_size;
  }
  if (d) closedir(d);
  return true;
}
