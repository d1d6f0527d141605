// Reading finished nodes: edges, attributes, messages; and changing them.
#include <stdlib.h>

#include "graph.h"

static const int64_t d23[] = {2, 3}, d5[] = {5};

static TF_Operation* with_all_attrs(TF_Graph* g, TF_Operation* a) {
  TF_OperationDescription* d = TF_NewOperation(g, "Neg", "n");
  TF_AddInput(d, out(a, 0));
  TF_SetAttrString(d, "_s", "hello", 5);
  const void* texts[] = {"ab", "", "cde"};
  const size_t lengths[] = {2, 0, 3};
  TF_SetAttrStringList(d, "_sl", texts, lengths, 3);
  const int64_t ints[] = {1, 2, 3};
  TF_SetAttrInt(d, "_i", -7);
  TF_SetAttrIntList(d, "_il", ints, 3);
  const float floats_[] = {1, 2};
  TF_SetAttrFloat(d, "_f", 2.5f);
  TF_SetAttrFloatList(d, "_fl", floats_, 2);
  const unsigned char bools[] = {1, 0, 1};
  TF_SetAttrBool(d, "_b", 1);
  TF_SetAttrBoolList(d, "_bl", bools, 3);
  const TF_DataType types[] = {TF_INT8, TF_STRING};
  TF_SetAttrType(d, "_t", TF_INT8);
  TF_SetAttrTypeList(d, "_tl", types, 2);
  TF_SetAttrShape(d, "_sh", d23, 2);
  TF_SetAttrShape(d, "_shu", NULL, -1);
  TF_SetAttrShape(d, "_sh0", NULL, 0);
  const int64_t* dims[] = {d23, NULL, d5};
  const int ranks[] = {2, -1, 1};
  TF_SetAttrShapeList(d, "_shl", dims, ranks, 3);
  TF_SetAttrPlaceholder(d, "_p", "zz");
  TF_SetAttrFuncName(d, "_fn", "ff", 2);
  float zeros[5] = {0};
  TF_Tensor* t = new_tensor(TF_FLOAT, 1, d5, zeros, sizeof zeros);
  TF_Tensor* ts[] = {t, t};
  OK(TF_SetAttrTensor(d, "_te", t, s));
  OK(TF_SetAttrTensorList(d, "_tel", ts, 2, s));
  ((float*)TF_TensorData(t))[0] = 9;  // the node has its own copy
  TF_DeleteTensor(t);
  EXPECT(TF_INVALID_ARGUMENT, "Unparseable AttrValue proto", TF_SetAttrValueProto(d, "_j", "\xff\xff", 2, s));
  EXPECT(TF_INVALID_ARGUMENT, "Unparseable TensorShapeProto", TF_SetAttrTensorShapeProto(d, "_j", "\xff\xff", 2, s));
  OK(TF_SetAttrTensorShapeProto(d, "_shp", "\x12\x02\x08\x04", 4, s));
  const void* protos[] = {"\x12\x02\x08\x04", "\xff\xff"};
  const size_t proto_lengths[] = {4, 2};
  EXPECT(TF_INVALID_ARGUMENT, "Unparseable TensorShapeProto at index 1", TF_SetAttrTensorShapeProtoList(d, "_shpl", protos, proto_lengths, 2, s));
  OK(TF_SetAttrTensorShapeProtoList(d, "_shpl", protos, proto_lengths, 1, s));
  OK(TF_SetAttrValueProto(d, "_v", "\x18\x07", 2, s));
  TF_Operation* oper = NULL;
  OK(oper = TF_FinishOperation(d, s));
  return oper;
}

static bool meta_is(TF_Operation* oper, const char* name, int list, long size, int type, long total) {
  TF_AttrMetadata m;
  OK(m = TF_OperationGetAttrMetadata(oper, name, s));
  const bool same = m.is_list == list && m.list_size == size && (int)m.type == type && m.total_size == total;
  if (!same) printf("    %s: list %d, size %ld, type %d, total %ld\n", name, m.is_list, (long)m.list_size, (int)m.type, (long)m.total_size);
  return same;
}

void test_graph_attrs(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* n = with_all_attrs(g, placeholder(g, "A", TF_FLOAT, 2, d23));
  if (!CHECK(n != NULL)) return;
  CHECK(meta_is(n, "T", 0, -1, TF_ATTR_TYPE, -1));
  CHECK(meta_is(n, "_s", 0, -1, TF_ATTR_STRING, 5));
  CHECK(meta_is(n, "_sl", 1, 3, TF_ATTR_STRING, 5));
  CHECK(meta_is(n, "_i", 0, -1, TF_ATTR_INT, -1));
  CHECK(meta_is(n, "_il", 1, 3, TF_ATTR_INT, -1));
  CHECK(meta_is(n, "_f", 0, -1, TF_ATTR_FLOAT, -1));
  CHECK(meta_is(n, "_fl", 1, 2, TF_ATTR_FLOAT, -1));
  CHECK(meta_is(n, "_b", 0, -1, TF_ATTR_BOOL, -1));
  CHECK(meta_is(n, "_bl", 1, 3, TF_ATTR_BOOL, -1));
  CHECK(meta_is(n, "_t", 0, -1, TF_ATTR_TYPE, -1));
  CHECK(meta_is(n, "_tl", 1, 2, TF_ATTR_TYPE, -1));
  CHECK(meta_is(n, "_sh", 0, -1, TF_ATTR_SHAPE, 2));
  CHECK(meta_is(n, "_shu", 0, -1, TF_ATTR_SHAPE, -1));
  CHECK(meta_is(n, "_sh0", 0, -1, TF_ATTR_SHAPE, 0));
  CHECK(meta_is(n, "_shl", 1, 3, TF_ATTR_SHAPE, 3));
  CHECK(meta_is(n, "_shp", 0, -1, TF_ATTR_SHAPE, 1));
  CHECK(meta_is(n, "_shpl", 1, 1, TF_ATTR_SHAPE, 1));
  CHECK(meta_is(n, "_p", 0, -1, TF_ATTR_PLACEHOLDER, -1));
  CHECK(meta_is(n, "_fn", 0, -1, TF_ATTR_FUNC, -1));
  CHECK(meta_is(n, "_te", 0, -1, TF_ATTR_TENSOR, -1));
  CHECK(meta_is(n, "_tel", 1, 2, TF_ATTR_TENSOR, -1));
  CHECK(meta_is(n, "_v", 0, -1, TF_ATTR_INT, -1));
  EXPECT(TF_INVALID_ARGUMENT, "Operation 'n' has no attr named '_no'.", TF_OperationGetAttrMetadata(n, "_no", s));

  char buf[64] = {0};
  OK(TF_OperationGetAttrString(n, "_s", buf, 3, s));
  CHECK(strcmp(buf, "hel") == 0);
  OK(TF_OperationGetAttrString(n, "_s", buf, 0, s));
  EXPECT(TF_INVALID_ARGUMENT, "Attribute '_i' is not a string", TF_OperationGetAttrString(n, "_i", buf, 3, s));
  EXPECT(TF_INVALID_ARGUMENT, "Operation 'n' has no attr named '_no'.", TF_OperationGetAttrString(n, "_no", buf, 3, s));
  void* texts[4];
  size_t lengths[4];
  OK(TF_OperationGetAttrStringList(n, "_sl", texts, lengths, 4, buf, 5, s));
  CHECK(lengths[0] == 2 && memcmp(texts[0], "ab", 2) == 0 && lengths[1] == 0 && lengths[2] == 3 && memcmp(texts[2], "cde", 3) == 0);
  EXPECT(TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of strings",
         TF_OperationGetAttrStringList(n, "_sl", texts, lengths, 4, buf, 4, s));
  EXPECT(TF_INVALID_ARGUMENT, "Value for '_s' is not a list", TF_OperationGetAttrStringList(n, "_s", texts, lengths, 4, buf, 4, s));
  OK(TF_OperationGetAttrStringList(n, "_il", texts, lengths, 4, buf, 4, s));
  int64_t i = 0, ints[4] = {0};
  OK(TF_OperationGetAttrInt(n, "_i", &i, s));
  CHECK(i == -7);
  OK(TF_OperationGetAttrInt(n, "_v", &i, s));
  CHECK(i == 7);
  OK(TF_OperationGetAttrIntList(n, "_il", ints, 2, s));
  CHECK(ints[0] == 1 && ints[1] == 2 && ints[2] == 0);
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'string' when 'int' expected", TF_OperationGetAttrInt(n, "_s", &i, s));
  EXPECT(TF_NOT_FOUND, "No attr named 'no' in NodeDef:\n\t [[{{node n}}]]", TF_OperationGetAttrInt(n, "no", &i, s));
  EXPECT(TF_INVALID_ARGUMENT, "Value for '_i' is not a list.", TF_OperationGetAttrIntList(n, "_i", ints, 4, s));
  EXPECT(TF_INVALID_ARGUMENT, "Operation 'n' has no attr named '_no'.", TF_OperationGetAttrIntList(n, "_no", ints, 4, s));
  OK(TF_OperationGetAttrIntList(n, "_fl", ints, 4, s));
  float f = 0, fs[2] = {0};
  OK(TF_OperationGetAttrFloat(n, "_f", &f, s));
  OK(TF_OperationGetAttrFloatList(n, "_fl", fs, 2, s));
  CHECK(f == 2.5f && fs[0] == 1 && fs[1] == 2);
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'int' when 'float' expected", TF_OperationGetAttrFloat(n, "_i", &f, s));
  unsigned char b = 0, bs[3] = {9, 9, 9};
  OK(TF_OperationGetAttrBool(n, "_b", &b, s));
  OK(TF_OperationGetAttrBoolList(n, "_bl", bs, 3, s));
  CHECK(b == 1 && bs[0] == 1 && bs[1] == 0 && bs[2] == 1);
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'int' when 'bool' expected", TF_OperationGetAttrBool(n, "_i", &b, s));
  TF_DataType t = 0, ts[2] = {0};
  OK(TF_OperationGetAttrType(n, "T", &t, s));
  OK(TF_OperationGetAttrTypeList(n, "_tl", ts, 2, s));
  CHECK(t == TF_FLOAT && ts[0] == TF_INT8 && ts[1] == TF_STRING);
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'int' when 'type' expected", TF_OperationGetAttrType(n, "_i", &t, s));
  OK(TF_OperationGetAttrShape(n, "_sh", ints, 2, s));
  CHECK(ints[0] == 2 && ints[1] == 3);
  OK(TF_OperationGetAttrShape(n, "_shu", ints, -1, s));
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'int' when 'shape' expected", TF_OperationGetAttrShape(n, "_i", ints, 1, s));
  EXPECT(TF_NOT_FOUND, "No attr named '_no' in NodeDef:", TF_OperationGetAttrShape(n, "_no", ints, 1, s));
  int64_t *dims[3], storage[4];
  int ranks[3];
  OK(TF_OperationGetAttrShapeList(n, "_shl", dims, ranks, 3, storage, 3, s));
  CHECK(ranks[0] == 2 && ranks[1] == -1 && ranks[2] == 1 && dims[0][1] == 3 && dims[2][0] == 5);
  EXPECT(TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of shapes",
         TF_OperationGetAttrShapeList(n, "_shl", dims, ranks, 3, storage, 2, s));
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'shape' when 'list(shape)' expected",
         TF_OperationGetAttrShapeList(n, "_sh", dims, ranks, 3, storage, 2, s));
  TF_Buffer* buffer = TF_NewBuffer();
  OK(TF_OperationGetAttrTensorShapeProto(n, "_sh", buffer, s));
  CHECK(buffer->length == 8 && memcmp(buffer->data, "\x12\x02\x08\x02\x12\x02\x08\x03", 8) == 0);
  EXPECT(TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.", TF_OperationGetAttrTensorShapeProto(n, "_sh", buffer, s));
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  EXPECT(TF_INVALID_ARGUMENT, "Value for '_i' is not a shape.", TF_OperationGetAttrTensorShapeProto(n, "_i", buffer, s));
  OK(TF_OperationGetAttrValueProto(n, "_fn", buffer, s));
  CHECK(buffer->length == 6 && memcmp(buffer->data,
                                      "R\x04\x0a\x02"
                                      "ff",
                                      6) == 0);
  EXPECT(TF_INVALID_ARGUMENT, "Operation 'n' has no attr named '_no'.", TF_OperationGetAttrValueProto(n, "_no", buffer, s));
  TF_DeleteBuffer(buffer);
  TF_Buffer* buffers[3] = {NULL, NULL, NULL};
  OK(TF_OperationGetAttrTensorShapeProtoList(n, "_shl", buffers, 3, s));
  CHECK(buffers[1] && buffers[1]->length == 2 && memcmp(buffers[1]->data, "\x18\x01", 2) == 0);
  for (int k = 0; k < 3; ++k) TF_DeleteBuffer(buffers[k]);
  EXPECT(TF_INVALID_ARGUMENT, "Value for '_sh' is not a list", TF_OperationGetAttrTensorShapeProtoList(n, "_sh", buffers, 3, s));
  TF_Tensor *tensor = NULL, *tensors[2] = {NULL, NULL};
  OK(TF_OperationGetAttrTensor(n, "_te", &tensor, s));
  OK(TF_OperationGetAttrTensorList(n, "_tel", tensors, 2, s));
  CHECK(tensor && TF_TensorElementCount(tensor) == 5 && ((float*)TF_TensorData(tensor))[0] == 0);
  CHECK(tensors[1] && TF_TensorElementCount(tensors[1]) == 5);
  TF_DeleteTensor(tensor);
  TF_DeleteTensor(tensors[0]);
  TF_DeleteTensor(tensors[1]);
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'int' when 'tensor' expected", TF_OperationGetAttrTensor(n, "_i", &tensor, s));
  EXPECT(TF_INVALID_ARGUMENT, "AttrValue had value with type 'tensor' when 'list(tensor)' expected",
         TF_OperationGetAttrTensorList(n, "_te", tensors, 2, s));

  const int count = TF_OperationGetNumAttrs(n);
  CHECK(count == 22);
  int found = 0;
  for (int k = 0; k < count; ++k) {
    char name[16] = {0};
    CHECK(TF_OperationGetAttrNameLength(n, k) < (int)sizeof name);
    OK(TF_OperationGetAttrName(n, k, name, s));
    CHECK((int)strlen(name) == TF_OperationGetAttrNameLength(n, k));
    found += strcmp(name, "T") == 0 || strcmp(name, "_shpl") == 0;
  }
  CHECK(found == 2);
  EXPECT(TF_OUT_OF_RANGE, "Operation only has 22 attributes, can't get the 99th", TF_OperationGetAttrName(n, 99, buf, s));
  NULLS {
    INVALID(TF_OperationGetAttrInt(NULL, "_i", &i, s));
    INVALID(TF_OperationGetAttrInt(n, NULL, &i, s));
    INVALID(TF_OperationGetAttrInt(n, "_i", NULL, s));
    INVALID(TF_OperationGetAttrIntList(n, "_il", NULL, 3, s));
    INVALID(TF_OperationGetAttrString(n, "_s", NULL, 3, s));
    INVALID(TF_OperationGetAttrStringList(n, "_sl", NULL, NULL, 3, NULL, 0, s));
    INVALID(TF_OperationGetAttrShape(n, "_sh", NULL, 2, s));
    INVALID(TF_OperationGetAttrShapeList(n, "_shl", NULL, NULL, 3, NULL, 0, s));
    INVALID(TF_OperationGetAttrTensor(n, "_te", NULL, s));
    INVALID(TF_OperationGetAttrTensorList(n, "_tel", NULL, 2, s));
    INVALID(TF_OperationGetAttrValueProto(n, "_i", NULL, s));
    INVALID(TF_OperationGetAttrMetadata(NULL, "_i", s));
    EXPECT(TF_OUT_OF_RANGE, "", TF_OperationGetAttrName(n, -1, buf, s));
    CHECK(TF_OperationGetNumAttrs(NULL) == 0 && TF_OperationGetAttrNameLength(NULL, 0) == 0);
  }
  TF_DeleteGraph(g);
}

void test_graph_edges(void) {
  TF_Graph* g = TF_NewGraph();
  TF_Operation* x = placeholder(g, "x", TF_FLOAT, 2, d23);
  TF_Operation* y = placeholder(g, "y", TF_FLOAT, 2, d23);
  const int32_t one[] = {1};
  TF_Operation* axis = const_i(g, "axis", 0, 1, one);
  TF_OperationDescription* d = TF_NewOperation(g, "Split", "split");
  TF_AddInput(d, out(axis, 0));
  TF_AddInput(d, out(x, 0));
  TF_SetAttrInt(d, "num_split", 3);
  TF_Operation* split = NULL;
  OK(split = TF_FinishOperation(d, s));
  CHECK(named(split, "split") && strcmp(TF_OperationOpType(split), "Split") == 0 && strcmp(TF_OperationDevice(split), "") == 0);
  CHECK(TF_OperationNumOutputs(split) == 3 && TF_OperationNumInputs(split) == 2);
  OK(CHECK(TF_OperationOutputListLength(split, "output", s) == 3));
  OK(CHECK(TF_OperationInputListLength(split, "value", s) == 1));
  EXPECT(TF_INVALID_ARGUMENT, "Input arg 'nope' not found", TF_OperationInputListLength(split, "nope", s));
  EXPECT(TF_INVALID_ARGUMENT, "Output arg 'nope' not found", TF_OperationOutputListLength(split, "nope", s));
  CHECK(TF_OperationOutputType(out(split, 2)) == TF_FLOAT);
  TF_Input in = {split, 0};
  CHECK(TF_OperationInputType(in) == TF_INT32);
  CHECK(reads(split, 1, "x", 0));
  TF_Output all[2];
  TF_OperationAllInputs(split, all, 2);
  CHECK(all[0].oper == axis && all[1].oper == x);

  TF_Operation* sum = binary_op(g, "Add", "sum", x, x);
  CHECK(TF_OperationOutputNumConsumers(out(x, 0)) == 3);
  TF_Input users[3];
  CHECK(TF_OperationOutputConsumers(out(x, 0), users, 3) == 3);
  CHECK(users[0].oper == split && users[0].index == 1 && users[1].oper == sum && users[2].oper == sum && users[1].index + users[2].index == 1);

  d = TF_NewOperation(g, "Neg", "neg");
  TF_AddInput(d, out(split, 1));
  TF_ColocateWith(d, y);
  TF_ColocateWith(d, x);
  TF_AddControlInput(d, y);
  TF_AddControlInput(d, sum);
  TF_SetDevice(d, "/device:CPU:0");
  TF_Operation* neg = NULL;
  OK(neg = TF_FinishOperation(d, s));
  CHECK(strcmp(TF_OperationDevice(neg), "/device:CPU:0") == 0);
  TF_Operation* nodes[4];
  CHECK(TF_OperationNumControlInputs(neg) == 2 && TF_OperationGetControlInputs(neg, nodes, 4) == 2);
  CHECK((nodes[0] == y && nodes[1] == sum) || (nodes[0] == sum && nodes[1] == y));
  CHECK(TF_OperationNumControlOutputs(y) == 1 && TF_OperationGetControlOutputs(y, nodes, 4) == 1 && nodes[0] == neg);
  TF_Buffer* def = TF_NewBuffer();
  OK(TF_OperationToNodeDef(neg, def, s));
  CHECK(holds_bytes(def->data, def->length, "\x0a\x03neg\x12\x03Neg\x1a\x07split:1\x1a\x02^y\x1a\x04^sum"));
  CHECK(holds_bytes(def->data, def->length, "\x12\x06loc:@x\x12\x06loc:@y"));
  CHECK(holds_bytes(def->data, def->length, "\x22\x0d/device:CPU:0"));
  TF_DeleteBuffer(def);

  CHECK(TF_GraphOperationByName(g, "neg") == neg && TF_GraphOperationByName(g, "nope") == NULL);
  size_t pos = 0;
  const char* order[] = {"x", "y", "axis", "split", "sum", "neg"};
  for (size_t i = 0; i < 6; ++i) CHECK(named(TF_GraphNextOperation(g, &pos), order[i]));
  CHECK(TF_GraphNextOperation(g, &pos) == NULL);

  TF_Buffer* b = TF_NewBuffer();
  OK(TF_GraphVersions(g, b, s));
  CHECK(b->length >= 3 && memcmp(b->data, "\x08\xaa\x13", 3) == 0);  // 2474
  TF_DeleteBuffer(b);
  b = TF_NewBuffer();
  EXPECT(TF_NOT_FOUND, "Op type not registered 'NoSuch' in binary running on ", TF_GraphGetOpDef(g, "NoSuch", b, s));
  OK(TF_GraphGetOpDef(g, "Neg", b, s));
  CHECK(holds_bytes(b->data, b->length, "\x0a\x03Neg"));
  TF_DeleteBuffer(b);

  // Changes.
  EXPECT(TF_OUT_OF_RANGE, "Cannot update edge. Output index [3] is greater than the number of total outputs [1].",
         (in.oper = neg, in.index = 0, TF_UpdateEdge(g, out(x, 3), in, s)));
  EXPECT(TF_OUT_OF_RANGE, "Cannot update edge. Input index [3] is greater than the number of total inputs [1].",
         (in.index = 3, TF_UpdateEdge(g, out(x, 0), in, s)));
  in.index = 0;
  EXPECT(TF_INVALID_ARGUMENT, "Cannot update edge, incompatible shapes: [2,3] and [2,1].", TF_UpdateEdge(g, out(y, 0), in, s));
  OK(TF_UpdateEdge(g, out(split, 2), in, s));
  CHECK(reads(neg, 0, "split", 2) && TF_OperationOutputNumConsumers(out(split, 1)) == 0 && TF_OperationOutputNumConsumers(out(split, 2)) == 1);
  TF_AddOperationControlInput(g, sum, y);
  CHECK(TF_OperationNumControlInputs(sum) == 1);
  TF_RemoveAllControlInputs(g, neg);
  CHECK(TF_OperationNumControlInputs(neg) == 0 && TF_OperationNumControlOutputs(y) == 1);
  TF_SetRequestedDevice(g, neg, "/CPU:0");
  CHECK(strcmp(TF_OperationDevice(neg), "/CPU:0") == 0);
  TF_Buffer* seven = TF_NewBufferFromString("\x18\x07", 2);
  TF_Buffer* junk = TF_NewBufferFromString("\xff\xff", 2);
  OK(TF_SetAttr(g, neg, "_x", seven, s));
  CHECK(meta_is(neg, "_x", 0, -1, TF_ATTR_INT, -1));
  OK(TF_ClearAttr(g, neg, "_x", s));
  OK(TF_ClearAttr(g, neg, "_x", s));
  EXPECT(TF_INVALID_ARGUMENT, "Operation 'neg' has no attr named '_x'.", TF_OperationGetAttrMetadata(neg, "_x", s));
  EXPECT(TF_INVALID_ARGUMENT, "Invalid AttrValue proto", TF_SetAttr(g, neg, "_x", junk, s));
  NULLS {
    TF_Graph* other = TF_NewGraph();
    TF_Operation* z = placeholder(other, "z", TF_FLOAT, 2, d23);
    INVALID(TF_UpdateEdge(g, out(z, 0), in, s));
    EXPECT(TF_INVALID_ARGUMENT, "Input 0 of node neg was passed int32 from axis:0 incompatible with expected float.",
           TF_UpdateEdge(g, out(axis, 0), in, s));
    INVALID(TF_UpdateEdge(g, out(NULL, 0), in, s));
    INVALID(TF_UpdateEdge(NULL, out(x, 0), in, s));
    INVALID(TF_SetAttr(other, neg, "_x", seven, s));
    INVALID(TF_ClearAttr(g, neg, "T", s));
    INVALID(TF_SetAttr(g, neg, "T", seven, s));
    TF_AddOperationControlInput(g, neg, z);
    TF_AddOperationControlInput(g, NULL, NULL);
    TF_RemoveAllControlInputs(NULL, neg);
    TF_SetRequestedDevice(g, neg, NULL);
    CHECK(TF_OperationName(NULL) == NULL && TF_OperationOpType(NULL) == NULL && TF_OperationDevice(NULL) == NULL);
    CHECK(TF_OperationNumInputs(NULL) == 0 && TF_OperationNumOutputs(NULL) == 0 && TF_OperationNumControlInputs(NULL) == 0);
    CHECK(TF_OperationOutputType(out(NULL, 0)) == 0 && TF_OperationOutputType(out(x, 7)) == 0);
    in.index = 7;
    CHECK(TF_OperationInput(in).oper == NULL && TF_OperationInputType(in) == 0);
    CHECK(TF_OperationOutputNumConsumers(out(NULL, 0)) == 0);
    TF_OperationAllInputs(split, NULL, 2);
    INVALID(TF_OperationToNodeDef(NULL, junk, s));
    INVALID(TF_OperationToNodeDef(neg, NULL, s));
    INVALID(TF_OperationInputListLength(NULL, "a", s));
    CHECK(TF_GraphOperationByName(NULL, "x") == NULL && TF_GraphOperationByName(g, NULL) == NULL && TF_GraphNextOperation(g, NULL) == NULL);
    INVALID(TF_GraphVersions(NULL, junk, s));
    INVALID(TF_GraphToGraphDef(NULL, junk, s));
    INVALID(TF_GraphToGraphDef(g, NULL, s));
    INVALID(TF_GraphGetOpDef(g, NULL, junk, s));
    TF_DeleteGraph(other);
  }
  TF_DeleteBuffer(seven);
  TF_DeleteBuffer(junk);
  TF_DeleteGraph(g);
}
