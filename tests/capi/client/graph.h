// Small helpers for the tests of graphs; they check what they call.
#ifndef WEFT_TESTS_C_CLIENT_GRAPH_H_
#define WEFT_TESTS_C_CLIENT_GRAPH_H_

#include "check.h"

TF_Output out(TF_Operation* oper, int index);
// Rank -1 is an unknown rank.
TF_Operation* placeholder(TF_Graph* g, const char* name, TF_DataType type, int rank, const int64_t* dims);
TF_Operation* const_i(TF_Graph* g, const char* name, int rank, int n, const int32_t* values);  // rank 0 or 1
TF_Operation* unary(TF_Graph* g, const char* op, const char* name, TF_Operation* a);
TF_Operation* binary_op(TF_Graph* g, const char* op, const char* name, TF_Operation* a, TF_Operation* b);
// As binary_op, for calls that must fail with this text.
void refused(TF_Graph* g, const char* op, const char* name, TF_Operation* a, TF_Operation* b, const char* text);
bool has_shape(TF_Graph* g, TF_Operation* oper, int index, int rank, const int64_t* dims);
bool named(TF_Operation* oper, const char* name);
bool reads(TF_Operation* oper, int input, const char* name, int index);  // which node feeds the input
int count_nodes(TF_Graph* g);

#endif  // WEFT_TESTS_C_CLIENT_GRAPH_H_
