#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void tensor_list(Registry& r) {
  r.add("EmptyTensorList")
      .in("element_shape: shape_type")
      .in("max_num_elements: int32")
      .out("handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}");

  r.add("EmptyTensorMap")
      .out("handle: variant");

  r.add("TensorListConcat")
      .in("input_handle: variant")
      .out("tensor: element_dtype")
      .out("lengths: int64")
      .attr("element_dtype: type")
      .attr("element_shape: shape = <unknown>");

  r.add("TensorListConcatLists")
      .in("input_a: variant")
      .in("input_b: variant")
      .out("output: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type");

  r.add("TensorListConcatV2")
      .in("input_handle: variant")
      .in("element_shape: shape_type")
      .in("leading_dims: int64")
      .out("tensor: element_dtype")
      .out("lengths: int64")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}");

  r.add("TensorListElementShape")
      .in("input_handle: variant")
      .out("element_shape: shape_type")
      .attr("shape_type: {int32, int64}");

  r.add("TensorListFromTensor")
      .in("tensor: element_dtype")
      .in("element_shape: shape_type")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}");

  r.add("TensorListGather")
      .in("input_handle: variant")
      .in("indices: int32")
      .in("element_shape: int32")
      .out("values: element_dtype")
      .attr("element_dtype: type");

  r.add("TensorListGetItem")
      .in("input_handle: variant")
      .in("index: int32")
      .in("element_shape: Tshape")
      .out("item: element_dtype")
      .attr("element_dtype: type")
      .attr("Tshape: {int32, int64} = DT_INT32");

  r.add("TensorListLength")
      .in("input_handle: variant")
      .out("length: int32");

  r.add("TensorListPopBack")
      .in("input_handle: variant")
      .in("element_shape: int32")
      .out("output_handle: variant")
      .out("tensor: element_dtype")
      .attr("element_dtype: type");

  r.add("TensorListPushBack")
      .in("input_handle: variant")
      .in("tensor: element_dtype")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type");

  r.add("TensorListPushBackBatch")
      .in("input_handles: variant")
      .in("tensor: element_dtype")
      .out("output_handles: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type");

  r.add("TensorListReserve")
      .in("element_shape: shape_type")
      .in("num_elements: int32")
      .out("handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}");

  r.add("TensorListResize")
      .in("input_handle: variant")
      .in("size: int32")
      .out("output_handle: variant");

  r.add("TensorListScatter")
      .in("tensor: element_dtype")
      .in("indices: int32")
      .in("element_shape: shape_type")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}");

  r.add("TensorListScatterIntoExistingList")
      .in("input_handle: variant")
      .in("tensor: element_dtype")
      .in("indices: int32")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type");

  r.add("TensorListScatterV2")
      .in("tensor: element_dtype")
      .in("indices: int32")
      .in("element_shape: shape_type")
      .in("num_elements: int32")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}");

  r.add("TensorListSetItem")
      .in("input_handle: variant")
      .in("index: int32")
      .in("item: element_dtype")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("resize_if_index_out_of_bounds: bool = false");

  r.add("TensorListSplit")
      .in("tensor: element_dtype")
      .in("element_shape: shape_type")
      .in("lengths: int64")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}");

  r.add("TensorListStack")
      .in("input_handle: variant")
      .in("element_shape: int32")
      .out("tensor: element_dtype")
      .attr("element_dtype: type")
      .attr("num_elements: int = -1");

  r.add("TensorMapErase")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .out("output_handle: variant")
      .attr("key_dtype: type")
      .attr("value_dtype: type");

  r.add("TensorMapHasKey")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .out("has_key: bool")
      .attr("key_dtype: type");

  r.add("TensorMapInsert")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .in("value: value_dtype")
      .out("output_handle: variant")
      .attr("key_dtype: type")
      .attr("value_dtype: type");

  r.add("TensorMapLookup")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .out("value: value_dtype")
      .attr("key_dtype: type")
      .attr("value_dtype: type");

  r.add("TensorMapSize")
      .in("input_handle: variant")
      .out("size: int32");

  r.add("TensorMapStackKeys")
      .in("input_handle: variant")
      .out("keys: key_dtype")
      .attr("key_dtype: type");
}

}  // namespace weft::ops
