// Files, clocks and threads of env.h; metrics; small queries of the experimental headers.
#include <float.h>
#include <stdlib.h>

#include "check.h"
#include "tensorflow/c/env.h"

static void add_one(void* p) { ++*(int*)p; }

static int logged = 0;
static void count_log(const char* text) { logged += text != NULL; }

static void test_files(const char* root) {
  char path[512], inner[600];
  snprintf(path, sizeof path, "%s.dir", root);
  snprintf(inner, sizeof inner, "%s/file.txt", path);
  OK(TF_CreateDir(path, s));
  EXPECT(TF_ALREADY_EXISTS, "; File exists", TF_CreateDir(path, s));
  TF_WritableFileHandle* file = NULL;
  OK(TF_NewWritableFile(inner, &file, s));
  OK(TF_AppendWritableFile(file, "hello", 5, s));
  OK(TF_FlushWritableFile(file, s));
  OK(TF_SyncWritableFile(file, s));
  OK(TF_AppendWritableFile(file, " you", 4, s));
  OK(TF_CloseWritableFile(file, s));
  TF_FileStatistics stats = {0, 0, true};
  OK(TF_FileStat(inner, &stats, s));
  CHECK(stats.length == 9 && !stats.is_directory && stats.mtime_nsec > 0);
  OK(TF_FileStat(path, &stats, s));
  CHECK(stats.is_directory);
  TF_StringStream* names = NULL;
  OK(names = TF_GetChildren(path, s));
  const char* name = NULL;
  CHECK(TF_StringStreamNext(names, &name) && strcmp(name, "file.txt") == 0);
  CHECK(!TF_StringStreamNext(names, &name) && name == NULL);
  TF_StringStreamDone(names);
  EXPECT(TF_FAILED_PRECONDITION, "; Directory not empty", TF_DeleteDir(path, s));
  OK(TF_DeleteFile(inner, s));
  EXPECT(TF_NOT_FOUND, "; No such file or directory", TF_DeleteFile(inner, s));
  EXPECT(TF_NOT_FOUND, "; No such file or directory", TF_FileStat(inner, &stats, s));
  EXPECT(TF_NOT_FOUND, "", TF_GetChildren(inner, s));
  EXPECT(TF_NOT_FOUND, "", TF_NewWritableFile("/no/such/dir/file", &file, s));
  NULLS CHECK(file == NULL);
  OK(TF_DeleteDir(path, s));
  // A tree is deleted at once.
  OK(TF_CreateDir(path, s));
  OK(TF_NewWritableFile(inner, &file, s));
  OK(TF_CloseWritableFile(file, s));
  int64_t files = -1, dirs = -1;
  OK(TF_DeleteRecursively(path, &files, &dirs, s));
  CHECK(files == 0 && dirs == 0);
  EXPECT(TF_NOT_FOUND, "", TF_DeleteRecursively(path, &files, &dirs, s));
}

static void test_env_nulls(void) {
  TF_WritableFileHandle* file = NULL;
  TF_FileStatistics stats;
  int64_t n = 0;
  INVALID(TF_CreateDir(NULL, s));
  INVALID(TF_DeleteDir(NULL, s));
  INVALID(TF_DeleteFile(NULL, s));
  INVALID(TF_FileStat(NULL, &stats, s));
  INVALID(TF_FileStat("/", NULL, s));
  INVALID(TF_NewWritableFile(NULL, &file, s));
  INVALID(TF_NewWritableFile("x", NULL, s));
  INVALID(TF_AppendWritableFile(NULL, "a", 1, s));
  INVALID(TF_FlushWritableFile(NULL, s));
  INVALID(TF_SyncWritableFile(NULL, s));
  INVALID(TF_CloseWritableFile(NULL, s));
  INVALID(TF_DeleteRecursively(NULL, &n, &n, s));
  INVALID(TF_GetChildren(NULL, s));
  CHECK(!TF_StringStreamNext(NULL, NULL));
  TF_StringStreamDone(NULL);
  TF_DefaultThreadOptions(NULL);
  CHECK(TF_StartThread(NULL, NULL, NULL, NULL) == NULL);
  TF_JoinThread(NULL);
  INVALID(TF_LoadSharedLibrary(NULL, s));
  INVALID(TF_GetSymbolFromLibrary(NULL, "x", s));
}

static void test_small_queries(void) {
  TFE_Context* c = new_context(NULL, 0, false);
  TF_Buffer* b = TF_NewBuffer();
  TFE_HostAddressSpace(c, b);
  CHECK(b->length == strlen("/job:localhost/replica:0/task:0") && memcmp(b->data, "/job:localhost/replica:0/task:0", b->length) == 0);
  TF_DeleteBuffer(b);
  TF_AttrBuilder* attrs = TF_NewAttrBuilder("AddV2");
  TF_AttrBuilderSetType(attrs, "T", TF_FLOAT);
  OK(TF_AttrBuilderCheckCanRunOnDevice(attrs, "CPU", s));
  TF_DeleteAttrBuilder(attrs);
  attrs = TF_NewAttrBuilder("AddV2");
  TF_AttrBuilderSetType(attrs, "T", TF_BOOL);
  EXPECT(TF_NOT_FOUND, "", TF_AttrBuilderCheckCanRunOnDevice(attrs, "CPU", s));
  TF_DeleteAttrBuilder(attrs);
  attrs = TF_NewAttrBuilder("IdentityN");
  const TF_DataType types[] = {TF_FLOAT, TF_INT32};
  TF_AttrBuilderSetTypeList(attrs, "T", types, 2);
  OK(TF_AttrBuilderCheckCanRunOnDevice(attrs, "CPU", s));
  TF_DeleteAttrBuilder(attrs);

  // TensorProto: dtype float, shape [2], the bytes of 1 and 2.
  const char proto[] = "\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80\x3f\x00\x00\x00\x40";
  b = TF_NewBufferFromString(proto, sizeof proto - 1);
  TF_Tensor* t = TF_AllocateTensor(TF_INT8, NULL, 0, 1);
  OK(TF_TensorFromProto(b, t, s));
  CHECK(TF_TensorType(t) == TF_FLOAT && TF_TensorElementCount(t) == 2 && ((const float*)TF_TensorData(t))[1] == 2);
  TF_DeleteBuffer(b);
  b = TF_NewBufferFromString("\xff\xff", 2);
  INVALID(TF_TensorFromProto(b, t, s));
  NULLS {
    INVALID(TF_TensorFromProto(NULL, t, s));
    INVALID(TF_TensorFromProto(b, NULL, s));
    TFE_HostAddressSpace(NULL, b);
    TFE_HostAddressSpace(c, NULL);
    TF_AttrBuilderSetType(NULL, "T", TF_FLOAT);
    TF_AttrBuilderSetTypeList(NULL, "T", types, 2);
    INVALID(TF_AttrBuilderCheckCanRunOnDevice(NULL, "CPU", s));
    TF_DeleteAttrBuilder(TF_NewAttrBuilder(NULL));
    TF_DeleteAttrBuilder(NULL);
    INVALID(TFE_SetLogicalCpuDevices(NULL, 2, "/job:localhost/replica:0/task:0", s));
    TF_RegisterLogListener(NULL);
  }
  TF_DeleteTensor(t);
  TF_DeleteBuffer(b);
  TF_RegisterLogListener(count_log);
  TFE_DeleteContext(c);
}

void test_environment(void) {
  char* root = TF_GetTempFileName("weft");
  if (CHECK(root != NULL && strlen(root) > 4)) {
    TF_FileStatistics made = {1, 0, true};
    OK(TF_FileStat(root, &made, s));  // it is there, so that nobody else takes the name
    CHECK(made.length == 0 && !made.is_directory);
    test_files(root);
    OK(TF_DeleteFile(root, s));
  }
  free(root);
  TF_StringStream* dirs = TF_GetLocalTempDirectories();
  const char* name = NULL;
  CHECK(TF_StringStreamNext(dirs, &name) && name[0] == '/');
  TF_StringStreamDone(dirs);
  CHECK(TF_NowSeconds() > 1500000000u && TF_NowMicros() / 1000000 - TF_NowSeconds() < 5 && TF_NowNanos() / 1000 >= TF_NowMicros() - 5000000);
  TF_ThreadOptions options = {1, 1, 1};
  TF_DefaultThreadOptions(&options);
  CHECK(options.stack_size == 0 && options.guard_size == 0 && options.numa_node == -1);
  int ran = 0;
  TF_Thread* thread = TF_StartThread(&options, "client", add_one, &ran);
  TF_JoinThread(thread);
  CHECK(ran == 1);
  void* library = NULL;
  OK(library = TF_LoadSharedLibrary("libm.so.6", s));
  void* symbol = NULL;
  OK(symbol = TF_GetSymbolFromLibrary(library, "cos", s));
  CHECK(symbol != NULL);
  EXPECT(TF_NOT_FOUND, "", TF_GetSymbolFromLibrary(library, "no_such_symbol", s));
  EXPECT(TF_NOT_FOUND, "", TF_LoadSharedLibrary("libnone.so.6", s));
  NULLS test_env_nulls();
  test_small_queries();
}

void test_monitoring(void) {
  TFE_MonitoringCounter0* c0 = NULL;
  OK(c0 = TFE_MonitoringNewCounter0("client/counter0", s, "about"));
  TFE_MonitoringCounterCell* cell = TFE_MonitoringGetCellCounter0(c0);
  TFE_MonitoringCounterCellIncrementBy(cell, 3);
  TFE_MonitoringCounterCellIncrementBy(cell, 4);
  CHECK(TFE_MonitoringCounterCellValue(cell) == 7);
  TFE_MonitoringDeleteCounter0(c0);
  OK(c0 = TFE_MonitoringNewCounter0("client/counter0", s, "about"));  // free again
  TFE_MonitoringDeleteCounter0(c0);
  TFE_MonitoringCounter2* c2 = NULL;
  OK(c2 = TFE_MonitoringNewCounter2("client/counter2", s, "about", "a", "b"));
  TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringGetCellCounter2(c2, "x", "y"), 5);
  CHECK(TFE_MonitoringCounterCellValue(TFE_MonitoringGetCellCounter2(c2, "x", "y")) == 5);
  CHECK(TFE_MonitoringCounterCellValue(TFE_MonitoringGetCellCounter2(c2, "x", "z")) == 0);
  TFE_MonitoringDeleteCounter2(c2);

  TFE_MonitoringIntGauge1* g1 = NULL;
  OK(g1 = TFE_MonitoringNewIntGauge1("client/int", s, "about", "a"));
  TFE_MonitoringIntGaugeCellSet(TFE_MonitoringGetCellIntGauge1(g1, "x"), -9);
  CHECK(TFE_MonitoringIntGaugeCellValue(TFE_MonitoringGetCellIntGauge1(g1, "x")) == -9);
  TFE_MonitoringDeleteIntGauge1(g1);
  TFE_MonitoringBoolGauge0* b0 = NULL;
  OK(b0 = TFE_MonitoringNewBoolGauge0("client/bool", s, "about"));
  TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringGetCellBoolGauge0(b0), true);
  CHECK(TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringGetCellBoolGauge0(b0)));
  TFE_MonitoringDeleteBoolGauge0(b0);
  TFE_MonitoringStringGauge4* s4 = NULL;
  OK(s4 = TFE_MonitoringNewStringGauge4("client/string", s, "about", "a", "b", "c", "d"));
  TFE_MonitoringStringGaugeCell* text = TFE_MonitoringGetCellStringGauge4(s4, "1", "2", "3", "4");
  TFE_MonitoringStringGaugeCellSet(text, "value");
  TF_Buffer* b = TF_NewBuffer();
  TFE_MonitoringStringGaugeCellValue(text, b);
  CHECK(b->length == 5 && memcmp(b->data, "value", 5) == 0);
  TF_DeleteBuffer(b);
  TFE_MonitoringDeleteStringGauge4(s4);

  TFE_MonitoringBuckets* buckets = TFE_MonitoringNewExponentialBuckets(1, 2, 3);
  TFE_MonitoringSampler1* sampler = NULL;
  OK(sampler = TFE_MonitoringNewSampler1("client/sampler", buckets, s, "about", "a"));
  TFE_MonitoringSamplerCell* samples = TFE_MonitoringGetCellSampler1(sampler, "x");
  TFE_MonitoringSamplerCellAdd(samples, 1.5);
  TFE_MonitoringSamplerCellAdd(samples, 100);
  b = TF_NewBuffer();
  TFE_MonitoringSamplerCellValue(samples, b);
  // HistogramProto: min, max, number, sum, sum of squares, limits and counts of four buckets.
  const double numbers[] = {1.5, 100, 2, 101.5, 10002.25}, limits[] = {1, 2, 4, DBL_MAX}, counts[] = {0, 1, 0, 1};
  const char* p = b->data;
  if (CHECK(b->length == 5 * 9 + 2 * 34)) {
    for (int i = 0; i < 5; ++i) CHECK(memcmp(p + 9 * i + 1, &numbers[i], 8) == 0);
    CHECK(memcmp(p + 47, limits, 32) == 0 && memcmp(p + 81, counts, 32) == 0);
  }
  TF_DeleteBuffer(b);
  TFE_MonitoringDeleteSampler1(sampler);
  TFE_MonitoringDeleteBuckets(buckets);
  NULLS {
    INVALID(TFE_MonitoringNewCounter0(NULL, s, "about"));
    INVALID(TFE_MonitoringNewSampler0("client/none", NULL, s, "about"));
    CHECK(TFE_MonitoringGetCellCounter0(NULL) == NULL && TFE_MonitoringGetCellCounter1(NULL, "x") == NULL);
    TFE_MonitoringCounterCellIncrementBy(NULL, 1);
    CHECK(TFE_MonitoringCounterCellValue(NULL) == 0);
    TFE_MonitoringStringGaugeCellSet(NULL, "x");
    TFE_MonitoringStringGaugeCellValue(NULL, NULL);
    TFE_MonitoringSamplerCellAdd(NULL, 1);
    TFE_MonitoringSamplerCellValue(NULL, NULL);
    TFE_MonitoringDeleteCounter0(NULL);
    TFE_MonitoringDeleteBuckets(NULL);
  }
}

static bool buffer_is(TF_Buffer* b, const char* bytes, size_t n) {
  const bool same = b && b->length == n && memcmp(b->data, bytes, n) == 0;
  if (b) TF_DeleteBuffer(b);
  return same;
}

void test_experimental(void) {
  CHECK(buffer_is(TF_CreateConfig(0, 0, 3),
                  "\x0a\x07\x0a\x03"
                  "CPU\x10\x03(\x01"
                  "2\x00R\x0d\x1a\x0b(\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                  28));
  CHECK(buffer_is(TF_CreateConfig(1, 1, 1),
                  "\x0a\x07\x0a\x03"
                  "CPU\x10\x01(\x01"
                  "2\x02 \x01R\x04\x1a\x02(\x01",
                  21));
  CHECK(buffer_is(TF_CreateRunOptions(0), "", 0));
  CHECK(buffer_is(TF_CreateRunOptions(1), "\x08\x03", 2));
  EXPECT(TF_INTERNAL, "oops", TF_MakeInternalErrorStatus(s, "oops"));
  CHECK(TF_PickUnusedPortOrDie() > 0);
}
