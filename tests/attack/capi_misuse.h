// Calls of the C API that mix owners, repeat ends, and pass wrong indices, counts and values, each case in a process of its own. The program
// prints what every call answers, so that TensorFlow's library can be asked the same (capi_attack.py says how).
#ifndef WEFT_TESTS_ATTACK_CAPI_MISUSE_H_
#define WEFT_TESTS_ATTACK_CAPI_MISUSE_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"

extern TF_Status* s;

// Runs the call with a cleared status and prints its code and message on a line of its own. The line is announced before, so that a death shows
// which call it was.
#define ASK(call)               \
  do {                          \
    TF_SetStatus(s, TF_OK, ""); \
    asked(#call);               \
    call;                       \
    answered();                 \
  } while (0)
// The same for a call without a status: `format` and the value are the answer.
#define TELL(format, value) \
  do {                      \
    asked(#value);          \
    told(format, value);    \
  } while (0)
// Preparation, which must work.
#define NEED(call)                                                                                          \
  do {                                                                                                      \
    TF_SetStatus(s, TF_OK, "");                                                                             \
    call;                                                                                                   \
    if (TF_GetCode(s) != TF_OK) printf("prepare: %s: %s\n", #call, TF_Message(s)), fflush(stdout), exit(3); \
  } while (0)

void asked(const char* call);
void answered(void);
void told(const char* format, ...);

// A graph with the same names in each: x (float placeholder of unknown shape), c (a scalar of `value`), n = Neg(x), p = Neg(c), two = Split of c
// into two, and `more` further constants, so that ids differ.
typedef struct {
  TF_Graph* graph;
  TF_Operation *x, *c, *n, *p, *split;
} Small;
Small small_graph(float value, int more);
TF_Session* session_of(TF_Graph* graph);
TF_Tensor* scalar(float value);
TF_Operation* constant(TF_Graph* graph, const char* name, float value);
TFE_Context* context(void);
TFE_TensorHandle* handle(float value);
TFE_TensorHandle* run_eager(TFE_Context* c, const char* op, TFE_TensorHandle* a, TFE_TensorHandle* b);
float value_of(TFE_TensorHandle* h);
TF_Function* square_function(const char* name);

typedef struct {
  const char* name;
  void (*run)(void);
} Case;
extern const Case graph_cases[], session_cases[], eager_cases[], value_cases[];  // each ends with a null name

#endif
