// A plugin that keeps files in memory under mem://, and can be wrong in the ways that WEFT_PLUGIN_FAULT names.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/experimental/filesystem/filesystem_interface.h"

enum { kMost = 64 };
static struct {
  char* name;
  char* data;
  size_t size;
} files[kMost];

static int find(const char* name) {
  for (int i = 0; i < kMost; ++i)
    if (files[i].name && strcmp(files[i].name, name) == 0) return i;
  return -1;
}

static void* allocate(size_t n) { return calloc(1, n ? n : 1); }
static void release(void* p) { free(p); }

static void init(TF_Filesystem* system, TF_Status* s) {
  const char* fault = getenv("WEFT_PLUGIN_FAULT");
  system->plugin_filesystem = NULL;
  if (fault && strcmp(fault, "init_fails") == 0) TF_SetStatus(s, TF_INTERNAL, "init says no");
  else TF_SetStatus(s, TF_OK, "");
}
static void cleanup(TF_Filesystem* system) { (void)system; }

static void open_to_read(const TF_Filesystem* system, const char* path, TF_RandomAccessFile* file, TF_Status* s) {
  (void)system;
  const int i = find(path);
  if (i < 0) return TF_SetStatus(s, TF_NOT_FOUND, path);
  file->plugin_file = &files[i];
  TF_SetStatus(s, TF_OK, "");
}
static void done_reading(TF_RandomAccessFile* file) { (void)file; }
static int64_t read_some(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer, TF_Status* s) {
  const int i = (int)((char*)file->plugin_file - (char*)files) / (int)sizeof files[0];
  const size_t left = offset < files[i].size ? files[i].size - offset : 0;
  const size_t got = left < n ? left : n;
  memcpy(buffer, files[i].data + offset, got);
  if (got < n) TF_SetStatus(s, TF_OUT_OF_RANGE, "end of file");
  else TF_SetStatus(s, TF_OK, "");
  return (int64_t)got;
}

static void open_to_write(const TF_Filesystem* system, const char* path, TF_WritableFile* file, TF_Status* s) {
  (void)system;
  int i = find(path);
  for (int k = 0; i < 0 && k < kMost; ++k)
    if (!files[k].name) files[i = k].name = strdup(path);
  if (i < 0) return TF_SetStatus(s, TF_RESOURCE_EXHAUSTED, "full");
  free(files[i].data);
  files[i].data = NULL;
  files[i].size = 0;
  file->plugin_file = &files[i];
  TF_SetStatus(s, TF_OK, "");
}
static void open_to_append(const TF_Filesystem* system, const char* path, TF_WritableFile* file, TF_Status* s) {
  const int i = find(path);
  if (i < 0) return open_to_write(system, path, file, s);
  file->plugin_file = &files[i];
  TF_SetStatus(s, TF_OK, "");
}
static void done_writing(TF_WritableFile* file) { (void)file; }
static void append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* s) {
  const int i = (int)((char*)file->plugin_file - (char*)files) / (int)sizeof files[0];
  files[i].data = realloc(files[i].data, files[i].size + n + 1);
  memcpy(files[i].data + files[i].size, buffer, n);
  files[i].size += n;
  TF_SetStatus(s, TF_OK, "");
}
static void no_effect(const TF_WritableFile* file, TF_Status* s) {
  (void)file;
  TF_SetStatus(s, TF_OK, "");
}

static void make_folder(const TF_Filesystem* system, const char* path, TF_Status* s) {
  (void)system;
  (void)path;
  TF_SetStatus(s, TF_OK, "");
}
static void delete_file(const TF_Filesystem* system, const char* path, TF_Status* s) {
  (void)system;
  const int i = find(path);
  if (i < 0) return TF_SetStatus(s, TF_NOT_FOUND, path);
  free(files[i].name);
  free(files[i].data);
  memset(&files[i], 0, sizeof files[i]);
  TF_SetStatus(s, TF_OK, "");
}
static void rename_file(const TF_Filesystem* system, const char* from, const char* to, TF_Status* s) {
  const int i = find(from);
  if (i < 0) return TF_SetStatus(s, TF_NOT_FOUND, from);
  if (find(to) >= 0) delete_file(system, to, s);
  free(files[i].name);
  files[i].name = strdup(to);
  TF_SetStatus(s, TF_OK, "");
}
// A folder is whatever some file is under, and the root.
static void stat_path(const TF_Filesystem* system, const char* path, TF_FileStatistics* stats, TF_Status* s) {
  (void)system;
  TF_SetStatus(s, TF_OK, "");
  const int i = find(path);
  memset(stats, 0, sizeof *stats);
  if (i >= 0) {
    stats->length = (int64_t)files[i].size;
    return;
  }
  const size_t n = strcmp(path, "/") == 0 ? 0 : strlen(path);
  stats->is_directory = true;
  if (n == 0) return;  // the root is always there
  for (int k = 0; k < kMost; ++k)
    if (files[k].name && strncmp(files[k].name, path, n) == 0 && files[k].name[n] == '/') return;
  TF_SetStatus(s, TF_NOT_FOUND, path);
}
static void exists(const TF_Filesystem* system, const char* path, TF_Status* s) {
  TF_FileStatistics stats;
  stat_path(system, path, &stats, s);
}
static int children(const TF_Filesystem* system, const char* path, char*** entries, TF_Status* s) {
  (void)system;
  const size_t n = strcmp(path, "/") == 0 ? 0 : strlen(path);
  *entries = allocate(kMost * sizeof(char*));
  int count = 0;
  for (int k = 0; k < kMost; ++k) {
    if (!files[k].name || strncmp(files[k].name, path, n) != 0 || files[k].name[n] != '/') continue;
    const char* rest = files[k].name + n + 1;
    const size_t size = strcspn(rest, "/");
    bool seen = false;
    for (int i = 0; i < count; ++i) seen = seen || (strlen((*entries)[i]) == size && strncmp((*entries)[i], rest, size) == 0);
    if (seen) continue;
    (*entries)[count] = allocate(size + 1);
    memcpy((*entries)[count++], rest, size);
  }
  TF_SetStatus(s, TF_OK, "");
  return count;
}

TF_CAPI_EXPORT void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  const char* fault = getenv("WEFT_PLUGIN_FAULT");
  if (!fault) fault = "";
#define FAULT(name) (strcmp(fault, name) == 0)
  info->plugin_memory_allocate = FAULT("no_allocate") ? NULL : allocate;
  info->plugin_memory_free = FAULT("no_free") ? NULL : release;
  if (!info->plugin_memory_allocate || !info->plugin_memory_free) return;  // nobody could give back what comes below
  info->num_schemes = 1;
  info->ops = allocate(sizeof(TF_FilesystemPluginOps));
  TF_FilesystemPluginOps* o = info->ops;
  TF_SetFilesystemVersionMetadata(o);
  o->scheme = FAULT("no_scheme") ? NULL : strdup(FAULT("local") ? "" : FAULT("second") || *fault == 0 ? "mem" : fault);
  if (FAULT("abi")) o->filesystem_ops_abi = 7;
  if (FAULT("reading_abi")) o->random_access_file_ops_abi = -1;
  if (!FAULT("no_table")) {
    TF_FilesystemOps* f = o->filesystem_ops = allocate(sizeof(TF_FilesystemOps));
    f->init = FAULT("no_init") ? NULL : init;
    f->cleanup = FAULT("no_cleanup") ? NULL : cleanup;
    f->new_random_access_file = open_to_read;
    f->new_writable_file = open_to_write;
    f->new_appendable_file = open_to_append;
    f->rename_file = FAULT("norename") ? NULL : rename_file;
    f->create_dir = make_folder;
    f->delete_file = delete_file;
    f->delete_dir = make_folder;  // folders go with their files
    f->stat = stat_path;
    f->path_exists = exists;
    f->get_children = children;
  }
  if (!FAULT("no_reading")) {
    o->random_access_file_ops = allocate(sizeof(TF_RandomAccessFileOps));
    o->random_access_file_ops->cleanup = FAULT("no_reading_cleanup") ? NULL : done_reading;
    o->random_access_file_ops->read = read_some;
  }
  if (!FAULT("no_writing")) {
    o->writable_file_ops = allocate(sizeof(TF_WritableFileOps));
    o->writable_file_ops->cleanup = done_writing;
    o->writable_file_ops->append = append;
    o->writable_file_ops->flush = no_effect;
    o->writable_file_ops->sync = no_effect;
    o->writable_file_ops->close = no_effect;
  }
  if (FAULT("region")) {
    o->read_only_memory_region_ops = allocate(sizeof(TF_ReadOnlyMemoryRegionOps));
    o->filesystem_ops->new_random_access_file = NULL;
  }
}
