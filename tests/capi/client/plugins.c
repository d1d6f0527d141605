// Plugins: a file system in memory that ops and files then use, plugins that are wrong, devices.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "check.h"
#include "tensorflow/c/env.h"

static TF_Tensor* string_tensor(const char* text) {
  TF_Tensor* t = TF_AllocateTensor(TF_STRING, NULL, 0, sizeof(TF_TString));
  TF_TString_Init(TF_TensorData(t));
  TF_TString_Copy(TF_TensorData(t), text, strlen(text));
  return t;
}
static TFE_TensorHandle* text(const char* value) {
  TF_Tensor* t = string_tensor(value);
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  return h;
}
// Whether the strings of a result are these, one after the other with a comma between.
static bool holds(TFE_TensorHandle* h, const char* want) {
  if (!h) return false;
  char got[400] = "";
  TF_Tensor* t = TFE_TensorHandleResolve(h, s);
  for (int64_t i = 0; i < TF_TensorElementCount(t); ++i) {
    const TF_TString* one = (const TF_TString*)TF_TensorData(t) + i;
    if (i) strcat(got, ",");
    strncat(got, TF_TString_GetDataPointer(one), TF_TString_GetSize(one));
  }
  TF_DeleteTensor(t);
  TFE_DeleteTensorHandle(h);
  if (strcmp(got, want) != 0) printf("    got \"%s\"\n", got);
  return strcmp(got, want) == 0;
}
static TFE_TensorHandle* file_op(TFE_Context* c, const char* op, const char* path, TF_Code code, const char* message) {
  TFE_TensorHandle* name = text(path);
  TFE_TensorHandle* out = run1(new_op(c, op, 1, &name), code, message);
  TFE_DeleteTensorHandle(name);
  return out;
}

static void test_memory_files(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  TFE_TensorHandle* in[] = {text("mem://host/a/b/one.txt"), text("first")};
  int n = 0;
  TFE_Op* write = new_op(c, "WriteFile", 2, in);
  OK(TFE_Execute(write, NULL, &n, s));
  TFE_DeleteOp(write);
  TFE_DeleteTensorHandle(in[0]);
  TFE_DeleteTensorHandle(in[1]);

  TF_WritableFileHandle* file = NULL;
  OK(TF_NewWritableFile("mem://host/a/b/two.txt", &file, s));
  OK(TF_AppendWritableFile(file, "sec", 3, s));
  OK(TF_AppendWritableFile(file, "ond", 3, s));
  OK(TF_FlushWritableFile(file, s));
  OK(TF_SyncWritableFile(file, s));
  OK(TF_CloseWritableFile(file, s));

  CHECK(holds(file_op(c, "ReadFile", "mem://host/a/b/one.txt", TF_OK, ""), "first"));
  CHECK(holds(file_op(c, "ReadFile", "mem://other/a/./x/../b//two.txt", TF_OK, ""), "second"));
  CHECK(holds(file_op(c, "MatchingFiles", "mem://host/a/*/*.txt", TF_OK, ""), "mem://host/a/b/one.txt,mem://host/a/b/two.txt"));
  file_op(c, "ReadFile", "mem://host/none", TF_NOT_FOUND, "/none");
  file_op(c, "ReadFile", "gone://host/none", TF_UNIMPLEMENTED, "File system scheme 'gone' not implemented (file: 'gone://host/none')");
  TFE_DeleteContext(c);

  TF_FileStatistics stats = {0, 0, false};
  OK(TF_FileStat("mem://host/a/b/two.txt", &stats, s));
  CHECK(stats.length == 6 && !stats.is_directory);
  OK(TF_FileStat("mem://host/a", &stats, s));
  CHECK(stats.is_directory);
  TF_StringStream* names = NULL;
  OK(names = TF_GetChildren("mem://host/a/b", s));
  const char* name = NULL;
  int count = 0;
  while (TF_StringStreamNext(names, &name)) count += strcmp(name, "one.txt") == 0 || strcmp(name, "two.txt") == 0;
  CHECK(count == 2);
  TF_StringStreamDone(names);
  OK(TF_CreateDir("mem://host/new", s));
  OK(TF_DeleteFile("mem://host/a/b/one.txt", s));
  EXPECT(TF_NOT_FOUND, "/a/b/one.txt", TF_DeleteFile("mem://host/a/b/one.txt", s));
  int64_t files = -1, folders = -1;
  OK(TF_DeleteRecursively("mem://host/a", &files, &folders, s));
  CHECK(files == 0 && folders == 0);
  EXPECT(TF_NOT_FOUND, "", TF_FileStat("mem://host/a/b/two.txt", &stats, s));
}

static TFE_TensorHandle* texts(int n, const char* const* values) {
  const int64_t dims[] = {n};
  TF_Tensor* t = TF_AllocateTensor(TF_STRING, dims, 1, (size_t)n * sizeof(TF_TString));
  for (int i = 0; i < n; ++i) {
    TF_TString_Init((TF_TString*)TF_TensorData(t) + i);
    TF_TString_Copy((TF_TString*)TF_TensorData(t) + i, values[i], strlen(values[i]));
  }
  TFE_TensorHandle* h = NULL;
  OK(h = TFE_NewTensorHandle(t, s));
  TF_DeleteTensor(t);
  return h;
}

// A checkpoint, written twice and read, on a file system that can rename and on one that cannot.
static void test_checkpoint_on(const char* prefix_text) {
  TFE_Context* c = new_context(NULL, 0, false);
  const char* const names[] = {"v"};
  const char* const whole[] = {""};
  const float values[2][3] = {{1, 2, 3}, {4, 5, 6}};
  TFE_TensorHandle *prefix = text(prefix_text), *keys = texts(1, names), *slices = texts(1, whole);
  for (int round = 0; round < 2; ++round) {
    TFE_TensorHandle* in[] = {prefix, keys, slices, floats(3, values[round])};
    TFE_Op* save = new_op(c, "SaveV2", 3, in);
    OK(TFE_OpAddInputList(save, in + 3, 1, s));
    int n = 0;
    OK(TFE_Execute(save, NULL, &n, s));
    TFE_DeleteOp(save);
    TFE_DeleteTensorHandle(in[3]);
    TFE_Op* restore = new_op(c, "RestoreV2", 3, in);
    const TF_DataType types[] = {TF_FLOAT};
    TFE_OpSetAttrTypeList(restore, "dtypes", types, 1);
    TFE_TensorHandle* out = run1(restore, TF_OK, "");
    CHECK(out && handle_is(out, 3, values[round]));
    TFE_DeleteTensorHandle(out);
  }
  TF_CheckpointReader* reader = NULL;
  OK(reader = TF_NewCheckpointReader(prefix_text, s));
  CHECK(reader && TF_CheckpointReaderHasTensor(reader, "v") && !TF_CheckpointReaderHasTensor(reader, "w"));
  TF_DeleteCheckpointReader(reader);
  TFE_DeleteTensorHandle(prefix);
  TFE_DeleteTensorHandle(keys);
  TFE_DeleteTensorHandle(slices);
  TFE_DeleteContext(c);
}

// Nothing but the checkpoint is in its folder: what was on its way there is deleted.
static void test_folder_holds(const char* folder, int files) {
  TF_StringStream* list = NULL;
  OK(list = TF_GetChildren(folder, s));
  const char* name = NULL;
  int count = 0;
  while (TF_StringStreamNext(list, &name)) ++count;
  if (!CHECK(count == files)) printf("    %d files in %s\n", count, folder);
  TF_StringStreamDone(list);
}

void test_plugins(const char* plugin, const char* library) {
  EXPECT(TF_NOT_FOUND, "no/such.so: cannot open shared object file: No such file or directory", TF_RegisterFilesystemPlugin("no/such.so", s));
  EXPECT(TF_NOT_FOUND, "undefined symbol: TF_InitPlugin\n\tFailed to load TF_InitPlugin symbol for DSO: ", TF_RegisterFilesystemPlugin(library, s));
  static const struct {
    const char* fault;
    TF_Code code;
    const char* text;
  } wrong[] = {
      {"no_allocate", TF_FAILED_PRECONDITION, "Cannot load filesystem plugin which does not provide `plugin_memory_allocate`"},
      {"no_free", TF_FAILED_PRECONDITION, "Cannot load filesystem plugin which does not provide `plugin_memory_free`"},
      {"no_scheme", TF_INVALID_ARGUMENT, "Attempted to register filesystem with `nullptr` URI scheme"},
      {"local", TF_ALREADY_EXISTS, "File system for  already registered"},
      {"abi", TF_FAILED_PRECONDITION, "Plugin ABI (7) for filesystem operations doesn't match expected core ABI (0). Plugin cannot be loaded."},
      {"reading_abi", TF_FAILED_PRECONDITION, "Plugin ABI (-1) for random access file operations doesn't match expected core ABI (0)."},
      {"no_table", TF_FAILED_PRECONDITION, "Trying to register filesystem without operations"},
      {"no_init", TF_FAILED_PRECONDITION, "Trying to register filesystem without `init` operation"},
      {"no_cleanup", TF_FAILED_PRECONDITION, "Trying to register filesystem without `cleanup` operation"},
      {"no_reading_cleanup", TF_FAILED_PRECONDITION, "Trying to register filesystem without `cleanup` operation on random access files"},
      {"no_reading", TF_FAILED_PRECONDITION, "Filesystem allows creation of random access files but no operations on them have been supplied."},
      {"no_writing", TF_FAILED_PRECONDITION, "Filesystem allows creation of writable files but no operations on them have been supplied."},
      {"region", TF_FAILED_PRECONDITION, "Trying to register filesystem without `cleanup` operation on read only memory regions"},
      {"init_fails", TF_INTERNAL, "init says no"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    setenv("WEFT_PLUGIN_FAULT", wrong[i].fault, 1);
    EXPECT(wrong[i].code, wrong[i].text, TF_RegisterFilesystemPlugin(plugin, s));
  }
  unsetenv("WEFT_PLUGIN_FAULT");
  OK(TF_RegisterFilesystemPlugin(plugin, s));
  setenv("WEFT_PLUGIN_FAULT", "second", 1);
  EXPECT(TF_ALREADY_EXISTS, "File system for mem already registered", TF_RegisterFilesystemPlugin(plugin, s));
  unsetenv("WEFT_PLUGIN_FAULT");
  test_memory_files();
  test_checkpoint_on("mem://host/ckpt/one");
  test_folder_holds("mem://host/ckpt", 2);
  setenv("WEFT_PLUGIN_FAULT", "norename", 1);  // its scheme, too
  OK(TF_RegisterFilesystemPlugin(plugin, s));
  unsetenv("WEFT_PLUGIN_FAULT");
  if (!on_tensorflow) {  // which renames and fails
    test_checkpoint_on("norename://host/plain/one");
    test_folder_holds("norename://host/plain", 2);
  }
  test_checkpoint_on("ram://c_client/one");
  test_folder_holds("ram://c_client", 2);

  TF_Library* devices = NULL;
  EXPECT(TF_NOT_FOUND, "no/such.so: cannot open shared object file: No such file or directory",
         devices = TF_LoadPluggableDeviceLibrary("no/such.so", s));
  CHECK(devices == NULL);
  OK(devices = TF_LoadPluggableDeviceLibrary(plugin, s));  // with nothing of that kind in it
  CHECK(devices != NULL);
  TF_DeletePluggableDeviceLibraryHandle(devices);
  NULLS {
    INVALID(TF_RegisterFilesystemPlugin(NULL, s));
    INVALID(TF_LoadPluggableDeviceLibrary(NULL, s));
    TF_DeletePluggableDeviceLibraryHandle(NULL);
  }
}
