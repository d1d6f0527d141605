// TF_GetAllOpList against every OpDef that TensorFlow's C library lists, by name and field for field; documentation is left out.
//   op_list OP_DEFS PYTHON_ONLY
// OP_DEFS holds length-prefixed OpDefs sorted by name, PYTHON_ONLY the names among them that the C library does not list.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

typedef struct {
  const unsigned char* data;
  size_t size;
} Bytes;

static unsigned char* read_file(const char* path, size_t* size) {
  FILE* f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  unsigned char* data = malloc(*size + 1);
  if (fread(data, 1, *size, f) != *size) *size = 0;
  data[*size] = 0;
  fclose(f);
  return data;
}

static uint64_t varint(const unsigned char** p) {
  uint64_t v = 0;
  for (int shift = 0;; shift += 7) {
    v |= (uint64_t)(**p & 127) << shift;
    if (!(*(*p)++ & 128)) return v;
  }
}

// The fields of a message after another, without those that `level` says are documentation: 0 an OpDef, 1 an argument, 2 an attribute.
static size_t without_documentation(Bytes in, int level, unsigned char* out) {
  const unsigned char *p = in.data, *end = p + in.size;
  size_t n = 0;
  while (p < end) {
    const unsigned char* begin = p;
    const uint64_t key = varint(&p);
    const int field = (int)(key >> 3);
    uint64_t size = 0;
    if ((key & 7) == 0) varint(&p);
    else if ((key & 7) == 5) p += 4;
    else if ((key & 7) == 1) p += 8;
    else size = varint(&p);
    const Bytes inner = {p, (size_t)size};
    p += size;
    const bool documentation = level == 0 ? field == 5 || field == 6 : level == 1 ? field == 2 : level == 2 && field == 4;
    if (documentation) continue;
    if (level == 0 && field >= 2 && field <= 4) {
      out[n++] = *begin;  // what comes next has another length now; it is left out in both
      n += without_documentation(inner, field == 4 ? 2 : 1, out + n);
      continue;
    }
    memcpy(out + n, begin, (size_t)(p - begin));
    n += (size_t)(p - begin);
  }
  return n;
}

static Bytes name_of(Bytes op) { return (Bytes){op.data + 2, op.data[1]}; }  // the first field, of less than 128 bytes
static int compare(const void* a, const void* b) {
  const Bytes x = name_of(*(const Bytes*)a), y = name_of(*(const Bytes*)b);
  const int c = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
  return c ? c : (x.size > y.size) - (x.size < y.size);
}
static bool is_named(const char* lines, Bytes name) {
  for (const char* line = lines; *line;) {
    const size_t n = strcspn(line, "\n");
    if (n == name.size && memcmp(line, name.data, n) == 0) return true;
    line += n + (line[n] != 0);
  }
  return false;
}

enum { kMost = 4000 };
static Bytes want[kMost], have[kMost];
static unsigned char one[1 << 16], other[1 << 16];

int main(int argc, char** argv) {
  size_t size = 0, list_size = 0;
  unsigned char* defs = argc == 3 ? read_file(argv[1], &size) : NULL;
  char* python = argc == 3 ? (char*)read_file(argv[2], &list_size) : NULL;
  if (!defs || !python) return fprintf(stderr, "usage: op_list OP_DEFS PYTHON_ONLY\n"), 2;
  int wanted = 0, found = 0, failed = 0;
  for (size_t at = 0; at + 4 <= size && wanted < kMost;) {
    uint32_t length;
    memcpy(&length, defs + at, 4);
    want[wanted] = (Bytes){defs + at + 4, length};
    at += 4 + length;
    if (!is_named(python, name_of(want[wanted]))) ++wanted;
  }
  TF_Buffer* list = TF_GetAllOpList();
  const unsigned char *p = list->data, *end = p + list->length;
  while (p < end && found < kMost) {
    ++p;  // every field is the first: an op
    const size_t length = (size_t)varint(&p);
    have[found++] = (Bytes){p, length};
    p += length;
  }
  qsort(want, (size_t)wanted, sizeof *want, compare);
  qsort(have, (size_t)found, sizeof *have, compare);
  for (int i = 0, j = 0; i < wanted || j < found;) {
    const int c = i == wanted ? 1 : j == found ? -1 : compare(&want[i], &have[j]);
    const Bytes name = name_of(c <= 0 ? want[i] : have[j]);
    const char* what = c < 0 ? "is not listed" : c > 0 ? "is listed, and not by TensorFlow" : NULL;
    if (c == 0) {
      const size_t n = without_documentation(want[i], 0, one), m = without_documentation(have[j], 0, other);
      if (n != m || memcmp(one, other, n) != 0) what = "differs";
    }
    if (what) ++failed, printf("%.*s %s\n", (int)name.size, (const char*)name.data, what);
    i += c <= 0;
    j += c >= 0;
  }
  printf("%d ops listed, %d wanted, %d wrong\n", found, wanted, failed);
  TF_DeleteBuffer(list);
  free(defs);
  free(python);
  return failed != 0 || wanted < 1700;
}
