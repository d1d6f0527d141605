// Imports a GraphDef and prints its nodes as the C API shows them, or compares with such a text.
//   graph_dump GRAPH.pb [EXPECTED.txt]
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static char* read_file(const char* path, size_t* size) {
  FILE* f = fopen(path, "rb");
  if (!f) {
    printf("cannot read %s\n", path);
    exit(2);
  }
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char* data = malloc(*size + 1);
  if (!data || fread(data, 1, *size, f) != *size) exit(2);
  data[*size] = 0;
  fclose(f);
  return data;
}

static int by_name(const void* a, const void* b) {
  return strcmp(TF_OperationName(*(TF_Operation* const*)a), TF_OperationName(*(TF_Operation* const*)b));
}

static char line[1 << 16];
static size_t used;
#define PUT(...) (used += (size_t)snprintf(line + used, sizeof line - used, __VA_ARGS__))

static void describe(TF_Graph* g, TF_Operation* o, TF_Status* s) {
  used = 0;
  PUT("%s = %s(", TF_OperationName(o), TF_OperationOpType(o));
  for (int i = 0; i < TF_OperationNumInputs(o); ++i) {
    TF_Input in = {o, i};
    TF_Output from = TF_OperationInput(in);
    PUT("%s%s:%d", i ? ", " : "", from.oper ? TF_OperationName(from.oper) : "none", from.index);
  }
  TF_Operation* controls[256];
  const int n = TF_OperationGetControlInputs(o, controls, 256);
  qsort(controls, (size_t)n, sizeof *controls, by_name);  // their order has no meaning
  for (int i = 0; i < n; ++i) PUT(" ^%s", TF_OperationName(controls[i]));
  PUT(") '%s'", TF_OperationDevice(o));
  for (int i = 0; i < TF_OperationNumOutputs(o); ++i) {
    TF_Output out = {o, i};
    if (TF_OperationOutputType(out) == TF_RESOURCE) {
      PUT(" h");
      continue;
    }
    const int rank = TF_GraphGetTensorNumDims(g, out, s);
    int64_t dims[16];
    if (rank < 0 || rank > 16) {
      PUT(" ?");
      continue;
    }
    TF_GraphGetTensorShape(g, out, dims, rank, s);
    PUT(" [");
    for (int d = 0; d < rank; ++d) PUT("%s%ld", d ? "," : "", (long)dims[d]);
    PUT("]");
  }
}

int main(int argc, char** argv) {
  if (argc < 2) {
    printf("usage: graph_dump GRAPH.pb [EXPECTED.txt]\n");
    return 2;
  }
  size_t size = 0, expected_size = 0;
  char* bytes = read_file(argv[1], &size);
  char* expected = argc > 2 ? read_file(argv[2], &expected_size) : NULL;
  char* at = expected;
  TF_Status* s = TF_NewStatus();
  TF_Graph* g = TF_NewGraph();
  TF_Buffer* buffer = TF_NewBufferFromString(bytes, size);
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(g, buffer, options, s);
  if (TF_GetCode(s) != TF_OK) {  // a graph that is not right: the answer is the error
    snprintf(line, sizeof line, "error %d %s\n", (int)TF_GetCode(s), TF_Message(s));
    const bool same = !expected || strcmp(line, expected) == 0;
    if (!expected || !same) printf("%s", line);
    TF_DeleteImportGraphDefOptions(options);
    TF_DeleteBuffer(buffer);
    TF_DeleteGraph(g);
    TF_DeleteStatus(s);
    free(bytes);
    free(expected);
    return !same;
  }
  size_t pos = 0;
  int different = 0, nodes = 0;
  TF_Operation* o;
  while ((o = TF_GraphNextOperation(g, &pos))) {
    describe(g, o, s);
    ++nodes;
    if (!expected) {
      puts(line);
      continue;
    }
    char* end = strchr(at, '\n');
    if (end) *end = 0;
    if (strcmp(at, line) != 0) {
      ++different;
      printf("wanted %s\n   got %s\n", at, line);
    }
    at = end ? end + 1 : at + strlen(at);
  }
  if (expected && *at) {
    printf("more nodes were expected: %s\n", at);
    ++different;
  }
  if (expected) printf("%d nodes, %d different\n", nodes, different);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(buffer);
  TF_DeleteGraph(g);
  TF_DeleteStatus(s);
  free(bytes);
  free(expected);
  return different != 0;
}
