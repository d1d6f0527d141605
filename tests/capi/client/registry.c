// What the library tells about itself: version, ops, kernels, ApiDefs; libraries loaded at run time.
#include "check.h"

void test_registry(const char* library) {
  CHECK(strncmp(TF_Version(), "2.", 2) == 0);
  TF_Buffer* ops = TF_GetAllOpList();
  CHECK(ops && count_field_1(ops->data, ops->length) > 700);
  CHECK(holds_bytes(ops->data, ops->length,
                    "\x0a\x05"
                    "AddV2"
                    "\x12"));  // name, then the first argument

  TF_Buffer* kernels = NULL;
  OK(kernels = TF_GetAllRegisteredKernels(s));
  CHECK(kernels && count_field_1(kernels->data, kernels->length) > 700);
  TF_DeleteBuffer(kernels);
  OK(kernels = TF_GetRegisteredKernelsForOp("AddV2", s));
  CHECK(kernels && count_field_1(kernels->data, kernels->length) > 0);
  CHECK(kernels && holds_bytes(kernels->data, kernels->length,
                               "\x0a\x05"
                               "AddV2"
                               "\x12\x03"
                               "CPU"));
  TF_DeleteBuffer(kernels);
  OK(kernels = TF_GetRegisteredKernelsForOp("NoSuchOp", s));
  CHECK(kernels && kernels->length == 0);
  TF_DeleteBuffer(kernels);

  TF_ApiDefMap* map = NULL;
  OK(map = TF_NewApiDefMap(ops, s));
  TF_Buffer* def = NULL;
  const char put[] = "op { graph_op_name: 'AddV2' summary: 'Sums \"two\" things.' endpoint { name: 'sum_two' } }";
  const char put_lines[] = "op {\n  graph_op_name: \"AddV2\"\n  in_arg {\n name: 'x'\n description: <<END\nFirst \"line\".\nSecond.\nEND\n  }\n}\n";
  OK(TF_ApiDefMapPut(map, put, strlen(put), s));
  OK(TF_ApiDefMapPut(map, put_lines, strlen(put_lines), s));
  const char broken[] = "op { graph_op_name: ";
  EXPECT(TF_INVALID_ARGUMENT, "", TF_ApiDefMapPut(map, broken, strlen(broken), s));
  const char unknown_arg[] = "op { graph_op_name: 'AddV2' in_arg { name: 'nope' } }";
  EXPECT(TF_FAILED_PRECONDITION, "", TF_ApiDefMapPut(map, unknown_arg, strlen(unknown_arg), s));
  OK(def = TF_ApiDefMapGet(map, "AddV2", 5, s));
  CHECK(def && holds_bytes(def->data, def->length, "Sums \"two\" things.") && holds_bytes(def->data, def->length, "sum_two"));
  CHECK(def &&
        holds_bytes(def->data, def->length,
                    "\x0a\x05"
                    "AddV2") &&
        holds_bytes(def->data, def->length, "First \"line\".\nSecond."));
  TF_DeleteBuffer(def);
  EXPECT(TF_FAILED_PRECONDITION, "TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been called.",
         TF_ApiDefMapPut(map, put, strlen(put), s));
  OK(CHECK(TF_ApiDefMapGet(map, "NoSuchOp", 8, s) == NULL));
  NULLS {
    INVALID(TF_GetRegisteredKernelsForOp(NULL, s));
    INVALID(TF_NewApiDefMap(NULL, s));
    TF_Buffer* junk = TF_NewBufferFromString("\xff\xff\xff", 3);
    INVALID(TF_NewApiDefMap(junk, s));
    TF_DeleteBuffer(junk);
    INVALID(TF_ApiDefMapPut(NULL, put, strlen(put), s));
    INVALID(TF_ApiDefMapPut(map, NULL, 3, s));
    INVALID(TF_ApiDefMapGet(NULL, "AddV2", 5, s));
    INVALID(TF_ApiDefMapGet(map, NULL, 5, s));
  }
  TF_DeleteApiDefMap(map);
  TF_DeleteApiDefMap(NULL);
  TF_DeleteBuffer(ops);

  TF_Library* loaded = NULL;
  EXPECT(TF_NOT_FOUND, "no/such/library.so: cannot open shared object file", loaded = TF_LoadLibrary("no/such/library.so", s));
  CHECK(loaded == NULL);
  OK(loaded = TF_LoadLibrary(library, s));
  if (loaded) {
    const TF_Buffer list = TF_GetOpList(loaded);
    CHECK(count_field_1(list.data, list.length) == 1 && holds_bytes(list.data, list.length, "ClientLibraryNegate"));
  }
  TFE_Context* c = new_context(NULL, 0, false);
  const float values[] = {1, -2}, negated[] = {-1, 2};
  TFE_TensorHandle* x = floats(2, values);
  TFE_TensorHandle* out = run1(new_op(c, "ClientLibraryNegate", 1, &x), TF_OK, "");
  CHECK(handle_is(out, 2, negated));
  TFE_DeleteTensorHandle(out);
  // Once more: the system gives the same library, nothing is registered twice.
  TF_Library* again = NULL;
  OK(again = TF_LoadLibrary(library, s));
  TF_DeleteLibraryHandle(loaded);
  TF_DeleteLibraryHandle(again);
  out = run1(new_op(c, "ClientLibraryNegate", 1, &x), TF_OK, "");
  CHECK(handle_is(out, 2, negated));
  TFE_DeleteTensorHandle(out);
  TFE_DeleteTensorHandle(x);
  TFE_DeleteContext(c);
  NULLS {
    INVALID(TF_LoadLibrary(NULL, s));
    TF_DeleteLibraryHandle(NULL);
    CHECK(TF_GetOpList(NULL).length == 0);
  }
}
