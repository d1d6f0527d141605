// A plug-in with a graph optimizer that turns Sub into Mul, so that its work shows in results, and a profiler that saw one plane. WEFT_GRAPH_FAULT names
// ways to be wrong.
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"

static bool fault(const char* name) {
  const char* wanted = getenv("WEFT_GRAPH_FAULT");
  return wanted && strcmp(wanted, name) == 0;
}

// What the last call of the optimizer saw, for the client.
static struct {
  int calls, preserved, fetched, inputs, outputs;
  char fetch[64];
  bool knows_sub;
} seen;
TF_CAPI_EXPORT int seen_calls(void) { return seen.calls; }
TF_CAPI_EXPORT int seen_preserved(void) { return seen.preserved; }
TF_CAPI_EXPORT int seen_fetched(void) { return seen.fetched; }
TF_CAPI_EXPORT int seen_inputs(void) { return seen.inputs; }
TF_CAPI_EXPORT int seen_outputs(void) { return seen.outputs; }
TF_CAPI_EXPORT const char* seen_fetch(void) { return seen.fetch; }
TF_CAPI_EXPORT bool seen_sub(void) { return seen.knows_sub; }

static void* create(void) { return malloc(1); }
static void destroy(void* optimizer) { free(optimizer); }
static void release(void* data, size_t length) {
  (void)length;
  free(data);
}

static void look(const TF_Buffer* graph, const TF_GrapplerItem* item, TF_Status* s) {
  size_t size = 0;
  TF_GetNodesToPreserveListSize(item, &seen.preserved, &size, s);
  if (TF_GetCode(s) != TF_OK) return;
  TF_GetFetchNodesListSize(item, &seen.fetched, &size, s);
  char** values = calloc((size_t)seen.fetched + 1, sizeof *values);
  size_t* lengths = calloc((size_t)seen.fetched + 1, sizeof *lengths);
  char* storage = malloc(size + 1);
  TF_GetFetchNodesList(item, values, lengths, seen.fetched, storage, size, s);
  if (TF_GetCode(s) == TF_OK && seen.fetched > 0) snprintf(seen.fetch, sizeof seen.fetch, "%.*s", (int)lengths[0], values[0]);
  free(values);
  free(lengths);
  free(storage);
  TF_GraphProperties* properties = TF_NewGraphProperties(item);
  if (TF_GetCode(s) == TF_OK) TF_InferStatically(properties, 0, 0, 0, 0, s);
  if (TF_GetCode(s) == TF_OK) TF_GetInputPropertiesListSize(properties, "less", &seen.inputs, s);
  if (TF_GetCode(s) == TF_OK) TF_GetOutputPropertiesListSize(properties, "less", &seen.outputs, s);
  if (TF_GetCode(s) == TF_OK && seen.outputs == 1) {
    TF_Buffer* one = TF_NewBuffer();
    TF_GetOutputPropertiesList(properties, "less", &one, 1, s);
    TF_DeleteBuffer(one);
  }
  TF_DeleteGraphProperties(properties);
  if (TF_GetCode(s) != TF_OK) return;
  TF_FunctionLibraryDefinition* library = TF_NewFunctionLibraryDefinition(graph, s);
  TF_Buffer* def = TF_NewBuffer();
  if (TF_GetCode(s) == TF_OK) TF_LookUpOpDef(library, "Sub", def, s);
  seen.knows_sub = TF_GetCode(s) == TF_OK && def->length > 0;
  TF_DeleteBuffer(def);
  TF_DeleteFunctionLibraryDefinition(library);
}

// The field "op" of a NodeDef: its tag, the length, the name.
static const char kSub[] = "\x12\x03Sub", kMul[] = "\x12\x03Mul";

static void optimize(void* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item, TF_Buffer* answer, TF_Status* s) {
  (void)optimizer;
  ++seen.calls;
  TF_SetStatus(s, TF_OK, "");
  if (fault("fails")) return TF_SetStatus(s, TF_INTERNAL, "no better graph today");
  if (fault("empty")) return;
  look(graph, item, s);
  if (TF_GetCode(s) != TF_OK) return;
  char* bytes = malloc(graph->length + 1);
  memcpy(bytes, graph->data, graph->length);
  if (fault("garbage")) memset(bytes, 0xff, graph->length);
  for (size_t i = 0; i + 5 <= graph->length; ++i) {
    if (memcmp(bytes + i, kSub, 5) == 0) memcpy(bytes + i, fault("unknown_op") ? "\x12\x03Zzz" : kMul, 5);
  }
  answer->data = bytes;
  answer->length = fault("cut") ? graph->length / 2 : graph->length;
  answer->data_deallocator = release;
}

TF_CAPI_EXPORT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* s) {
  if (fault("init_fails")) return TF_SetStatus(s, TF_UNAVAILABLE, "no optimizer");
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer->struct_size = fault("size") ? 0 : TP_OPTIMIZER_STRUCT_SIZE;
  params->device_type = fault("no_type") ? NULL : "CPU";
  params->optimizer->create_func = fault("no_create") ? NULL : create;
  params->optimizer->optimize_func = fault("no_optimize") ? NULL : optimize;
  params->optimizer->destroy_func = destroy;
}

// ---- The profiler ----

// XSpace{planes{name: "/device:MINE"}}
static const char kSpace[] = "\x0a\x0e\x12\x0c/device:MINE";
static int state;  // 1: started, 2: stopped

static void start(const TP_Profiler* profiler, TF_Status* s) {
  (void)profiler;
  if (fault("start_fails")) return TF_SetStatus(s, TF_INTERNAL, "no profile today");
  state = 1;
}
static void stop(const TP_Profiler* profiler, TF_Status* s) {
  (void)profiler;
  if (state == 1) state = 2;
  else TF_SetStatus(s, TF_FAILED_PRECONDITION, "stopped without a start");
}
static void collect(const TP_Profiler* profiler, uint8_t* buffer, size_t* size, TF_Status* s) {
  (void)profiler;
  if (state != 2) return TF_SetStatus(s, TF_FAILED_PRECONDITION, "collected before the end");
  if (buffer) memcpy(buffer, kSpace, *size < sizeof kSpace - 1 ? *size : sizeof kSpace - 1);
  else *size = sizeof kSpace - 1;
  if (buffer && fault("profile_garbage")) memset(buffer, 0xff, *size);
}
static void destroy_profiler(TP_Profiler* profiler) { (void)profiler; }
static void destroy_profiler_fns(TP_ProfilerFns* fns) { (void)fns; }

TF_CAPI_EXPORT void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* s) {
  (void)s;
  params->struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->profiler->struct_size = TP_PROFILER_STRUCT_SIZE;
  params->profiler->device_type = fault("profiler_no_type") ? NULL : "MINE";
  params->profiler_fns->struct_size = TP_PROFILER_FNS_STRUCT_SIZE;
  params->profiler_fns->start = fault("no_start") ? NULL : start;
  params->profiler_fns->stop = stop;
  params->profiler_fns->collect_data_xspace = collect;
  params->destroy_profiler = destroy_profiler;
  params->destroy_profiler_fns = destroy_profiler_fns;
}
