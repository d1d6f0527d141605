// SPDX-License-Identifier: Apache-2.0
//
// What the C++ headers of tensorflow/core are written in terms of, beside TensorFlow's C API: plain C functions, so that programs and
// libraries of ops depend on no C++ type of the engine. Not for direct use.
//
// A function that returns TF_Status* returns null when all went well; the caller deletes what it gets otherwise.
#ifndef TENSORFLOW_CORE_WEFT_ABI_H_
#define TENSORFLOW_CORE_WEFT_ABI_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_text {
  const char* data;
  size_t size;
} weft_text;

// rank is -1 where it is not known, an unknown dimension is -1.
typedef struct weft_dims {
  const int64_t* dims;
  int rank;
} weft_dims;

typedef struct weft_node weft_node;  // one use of an op, its attributes known
typedef struct weft_attr weft_attr;
typedef struct weft_construction weft_construction;  // while a kernel is made
typedef struct weft_run weft_run;                    // while it runs
typedef struct weft_done weft_done;                  // what an asynchronous kernel calls at its end
typedef struct weft_shapes weft_shapes;              // while shapes are inferred
typedef struct weft_pool weft_pool;
typedef struct weft_resources weft_resources;
typedef struct weft_cancellation weft_cancellation;
typedef struct weft_library weft_library;  // functions by name
typedef struct weft_rule weft_rule;  // while an op is written in terms of others
typedef TF_Status* (*weft_rule_function)(void* data, weft_rule* rule);

// ---- Tensors ----

typedef struct weft_tensor_info {
  void* data;
  weft_dims shape;  // valid as long as the tensor
  int64_t elements;
  int dtype;
} weft_tensor_info;

TF_CAPI_EXPORT void weft_tensor_describe(const TF_Tensor* tensor, weft_tensor_info* info);
TF_CAPI_EXPORT TF_Status* weft_tensor_allocate(int dtype, weft_dims shape, TF_Tensor** out);
// Another handle of the same memory: as it is, with another type or shape of as many bytes (null where they differ), rows of dimension 0.
TF_CAPI_EXPORT TF_Tensor* weft_tensor_share(const TF_Tensor* tensor);
TF_CAPI_EXPORT TF_Tensor* weft_tensor_view(const TF_Tensor* tensor, int dtype, weft_dims shape);
TF_CAPI_EXPORT TF_Tensor* weft_tensor_rows(const TF_Tensor* tensor, int64_t begin, int64_t end);
TF_CAPI_EXPORT TF_Status* weft_tensor_copy(const TF_Tensor* tensor, TF_Tensor** out);
TF_CAPI_EXPORT int weft_tensor_unique(const TF_Tensor* tensor);
// `to` becomes another handle of the memory of `from`; null leaves it without a value. 0: of another type, nothing done.
TF_CAPI_EXPORT int weft_tensor_assign(TF_Tensor* to, const TF_Tensor* from);
TF_CAPI_EXPORT int weft_tensor_valid(const TF_Tensor* tensor);
TF_CAPI_EXPORT TF_Buffer* weft_tensor_summary(const TF_Tensor* tensor, int64_t limit);

// A serialized TensorProto, with the elements as bytes where their type allows it; empty for resources and variants.
TF_CAPI_EXPORT TF_Buffer* weft_tensor_to_proto(const TF_Tensor* tensor);
TF_CAPI_EXPORT TF_Status* weft_tensor_from_proto(weft_text bytes, TF_Tensor** out);

// ---- Elements of DT_RESOURCE tensors: 16 bytes each ----

TF_CAPI_EXPORT void weft_handle_copy(void* to, const void* from);  // `to` is a handle already
TF_CAPI_EXPORT void weft_handle_destroy(void* handle);             // leaves an empty one
enum { WEFT_HANDLE_DEVICE, WEFT_HANDLE_CONTAINER, WEFT_HANDLE_NAME, WEFT_HANDLE_TYPE };
TF_CAPI_EXPORT weft_text weft_handle_text(const void* handle, int which);
TF_CAPI_EXPORT void weft_handle_set_text(void* handle, int which, weft_text text);
TF_CAPI_EXPORT uint64_t weft_handle_hash(const void* handle);
TF_CAPI_EXPORT void weft_handle_set_hash(void* handle, uint64_t hash);

// ---- Elements of DT_VARIANT tensors: 16 bytes each, which share an object of some type until one of them changes it ----

typedef struct weft_variant_functions {
  void* (*copy)(const void* object);  // may return null: cannot be copied
  void (*destroy)(void* object);
  weft_text type_name;  // what programs print
} weft_variant_functions;

TF_CAPI_EXPORT void weft_variant_copy(void* to, const void* from);  // `to` is a variant already
TF_CAPI_EXPORT void weft_variant_destroy(void* variant);            // leaves an empty one
// Takes the object over. `functions` stays where it is for ever.
TF_CAPI_EXPORT void weft_variant_set(void* variant, weft_text type, void* object, const weft_variant_functions* functions);
// The object, if it is of that type; the second makes it this variant's own before.
TF_CAPI_EXPORT const void* weft_variant_get(const void* variant, weft_text type);
TF_CAPI_EXPORT void* weft_variant_own(void* variant, weft_text type);
TF_CAPI_EXPORT weft_text weft_variant_type_name(const void* variant);  // empty for an empty one
TF_CAPI_EXPORT void weft_variant_set_tensor(void* variant, const TF_Tensor* tensor);
TF_CAPI_EXPORT const TF_Tensor* weft_variant_tensor(const void* variant);  // null if it holds something else

// ---- Graphs: the second input of a Merge is not connected any more; then it is, to the loop's end ----

TF_CAPI_EXPORT void weft_graph_open_loop(struct TF_Graph* graph, struct TF_Operation* merge, TF_Status* status);
TF_CAPI_EXPORT void weft_graph_close_loop(struct TF_Graph* graph, struct TF_Operation* merge, struct TF_Output next, TF_Status* status);

// ---- Sessions that a master elsewhere runs: steps that it looked up once ----

TF_CAPI_EXPORT int weft_session_is_remote(const struct TF_Session* session);
// `options` is a serialized CallableOptions.
TF_CAPI_EXPORT void weft_session_make_callable(struct TF_Session* session, weft_text options, int64_t* callable, TF_Status* status);
// `metadata` gets a serialized RunMetadata, if it is not null.
TF_CAPI_EXPORT void weft_session_run_callable(struct TF_Session* session, int64_t callable, TF_Tensor* const* feeds, int num_feeds,
                                              TF_Tensor** fetches, int num_fetches, struct TF_Buffer* metadata, TF_Status* status);
TF_CAPI_EXPORT void weft_session_release_callable(struct TF_Session* session, int64_t callable, TF_Status* status);

// ---- Nodes and their attributes ----

enum {
  WEFT_ATTR_NONE,
  WEFT_ATTR_INT,
  WEFT_ATTR_FLOAT,
  WEFT_ATTR_BOOL,
  WEFT_ATTR_STRING,
  WEFT_ATTR_TYPE,
  WEFT_ATTR_SHAPE,
  WEFT_ATTR_TENSOR,
  WEFT_ATTR_FUNC
};
enum { WEFT_ATTR_LIST = 16 };  // added for lists; alone: an empty list of unknown type

TF_CAPI_EXPORT weft_text weft_node_name(const weft_node* node);
TF_CAPI_EXPORT weft_text weft_node_op(const weft_node* node);
TF_CAPI_EXPORT int weft_node_num_inputs(const weft_node* node);
TF_CAPI_EXPORT int weft_node_num_outputs(const weft_node* node);
TF_CAPI_EXPORT int weft_node_input_type(const weft_node* node, int i);
TF_CAPI_EXPORT int weft_node_output_type(const weft_node* node, int i);
// Which inputs (or outputs) an argument stands for; 0 where there is no such argument.
TF_CAPI_EXPORT int weft_node_range(const weft_node* node, int outputs, weft_text name, int* begin, int* end);
TF_CAPI_EXPORT size_t weft_node_num_attrs(const weft_node* node);
TF_CAPI_EXPORT weft_text weft_node_attr_name(const weft_node* node, size_t i);
TF_CAPI_EXPORT const weft_attr* weft_node_attr(const weft_node* node, weft_text name);
TF_CAPI_EXPORT int weft_attr_kind(const weft_attr* attr);
TF_CAPI_EXPORT size_t weft_attr_size(const weft_attr* attr);  // 1 for what is no list
TF_CAPI_EXPORT weft_text weft_attr_kind_name(const weft_attr* attr);
// Element i, of the kind that weft_attr_kind says.
TF_CAPI_EXPORT int64_t weft_attr_int(const weft_attr* attr, size_t i);  // of int, bool and type
TF_CAPI_EXPORT float weft_attr_float(const weft_attr* attr, size_t i);
TF_CAPI_EXPORT weft_text weft_attr_text(const weft_attr* attr, size_t i);  // of string, and the name of func
TF_CAPI_EXPORT weft_dims weft_attr_dims(const weft_attr* attr, size_t i);
TF_CAPI_EXPORT const TF_Tensor* weft_attr_tensor(const weft_attr* attr, size_t i);
TF_CAPI_EXPORT TF_Buffer* weft_attr_bytes(const weft_attr* attr);  // a serialized AttrValue

// ---- Registering, also before main; an error is kept for whoever loads the library, or logged ----

typedef struct weft_op_def {
  weft_text name, doc;
  const weft_text *inputs, *outputs, *attrs;
  size_t num_inputs, num_outputs, num_attrs;
  int stateful, commutative, aggregate, allows_uninitialized_input, distributed_communication;
  int deprecated_since;
  weft_text deprecation;
  TF_Status* (*shape)(void* data, weft_shapes* context);  // null: shapes are unknown
  void* data;                                             // of shape; kept for ever
  weft_rule_function gradient, lowering;                  // may be null
  void *gradient_data, *lowering_data;                    // kept for ever
} weft_op_def;

typedef struct weft_type_constraint {
  weft_text attr;
  const int* types;
  size_t num_types;
} weft_type_constraint;

typedef struct weft_kernel_def {
  weft_text op, device, label;
  const weft_type_constraint* constraints;
  size_t num_constraints;
  const weft_text* host_memory;
  size_t num_host_memory;
  int priority;
  void* data;  // of create; kept for ever
  void* (*create)(void* data, weft_construction* c, int* asynchronous);
  TF_Status* (*compute)(void* kernel, weft_run* run);
  // Returns an error only if it did not and will not call done.
  TF_Status* (*compute_async)(void* kernel, weft_run* run, weft_done* done);
  void (*destroy)(void* kernel);
} weft_kernel_def;

TF_CAPI_EXPORT void weft_register_op(const weft_op_def* def);
TF_CAPI_EXPORT void weft_register_kernel(const weft_kernel_def* def);
// "Op<name=...; signature=...>" of all ops, a line for each, in the order of their names; those that begin with _ only where `internal` is not 0.
TF_CAPI_EXPORT TF_Buffer* weft_registry_text(int internal);
// The hashes of TensorFlow.
TF_CAPI_EXPORT uint64_t weft_hash64(weft_text text, uint64_t seed);
TF_CAPI_EXPORT uint64_t weft_fingerprint64(weft_text text);
TF_CAPI_EXPORT uint32_t weft_crc32c(uint32_t crc, weft_text text);
TF_CAPI_EXPORT void weft_log(int severity, weft_text file, int line, weft_text message);

// ---- While a kernel is made ----

TF_CAPI_EXPORT const weft_node* weft_construction_node(weft_construction* c);
TF_CAPI_EXPORT weft_text weft_construction_device_type(weft_construction* c);
// The producer of the graph that the kernel is made for.
TF_CAPI_EXPORT int weft_construction_graph_version(weft_construction* c);
TF_CAPI_EXPORT void weft_construction_fail(weft_construction* c, int code, weft_text message);

// ---- While it runs ----

// What every run asks for, in few calls: the node and its numbers; an input with what it is (null: there is none); an output of a shape, made.
typedef struct weft_run_info {
  const weft_node* node;
  int num_inputs, num_outputs;
} weft_run_info;
TF_CAPI_EXPORT void weft_run_describe(weft_run* run, weft_run_info* info);
TF_CAPI_EXPORT const TF_Tensor* weft_run_describe_input(weft_run* run, int i, weft_tensor_info* info);
TF_CAPI_EXPORT TF_Status* weft_run_make_output(weft_run* run, int i, weft_dims shape, TF_Tensor** out, weft_tensor_info* info);
TF_CAPI_EXPORT const weft_node* weft_run_node(weft_run* run);
TF_CAPI_EXPORT int weft_run_num_inputs(weft_run* run);
TF_CAPI_EXPORT int weft_run_num_outputs(weft_run* run);
// The run's own tensors, not to be deleted; null where there is none.
TF_CAPI_EXPORT const TF_Tensor* weft_run_input(weft_run* run, int i);
TF_CAPI_EXPORT TF_Tensor* weft_run_output(weft_run* run, int i);
TF_CAPI_EXPORT TF_Status* weft_run_allocate(weft_run* run, int i, weft_dims shape);
// Takes the memory of an input for an output, where nobody else needs it; 0 if not.
TF_CAPI_EXPORT int weft_run_forward(weft_run* run, int input, int output, weft_dims shape);
// The memory of an input that nobody else needs as a tensor of the caller's, of the same type and number of elements; null if there is none. The input
// has no value after it.
TF_CAPI_EXPORT TF_Tensor* weft_run_take_input(weft_run* run, int input, int dtype, weft_dims shape);
TF_CAPI_EXPORT TF_Status* weft_run_set_output(weft_run* run, int i, const TF_Tensor* tensor);
TF_CAPI_EXPORT int64_t weft_run_step_id(weft_run* run);
TF_CAPI_EXPORT weft_text weft_run_device_name(weft_run* run);
TF_CAPI_EXPORT weft_text weft_run_device_type(weft_run* run);
TF_CAPI_EXPORT weft_pool* weft_run_pool(weft_run* run);
TF_CAPI_EXPORT weft_resources* weft_run_resources(weft_run* run);
// Those of the step that the run is part of. Once they have been asked for, the end of a step removes what is in its container ("__per_step_" and its id).
TF_CAPI_EXPORT weft_resources* weft_run_step_resources(weft_run* run);
TF_CAPI_EXPORT weft_cancellation* weft_run_cancellation(weft_run* run);  // may be null
TF_CAPI_EXPORT int weft_run_input_is_ref(weft_run* run, int i);
// What a reference points at, and the lock that guards it (a std::shared_mutex); null where there is none.
TF_CAPI_EXPORT TF_Tensor* weft_run_ref(weft_run* run, int i, void** mutex);
TF_CAPI_EXPORT TF_Status* weft_run_forward_ref(weft_run* run, int input, int output);
TF_CAPI_EXPORT void weft_done_call(weft_done* done, int code, weft_text message);  // once

// ---- A node of no graph: its kernel, made and run by the caller, and its shapes (test bases) ----

typedef struct weft_lone_node weft_lone_node;
// From a serialized NodeDef, whose inputs are not looked at. device: "CPU"; empty: without a kernel, for its shapes alone.
TF_CAPI_EXPORT TF_Status* weft_lone_node_new(weft_text node_def, weft_text device, int graph_version, weft_lone_node** out);
TF_CAPI_EXPORT void weft_lone_node_delete(weft_lone_node* n);
TF_CAPI_EXPORT weft_construction* weft_lone_node_construction(weft_lone_node* n);
// What `create` of a kernel of C++ sources gave: the caller's from then on. Null for a kernel of the engine.
TF_CAPI_EXPORT void* weft_lone_node_take_object(weft_lone_node* n);
// A run with these inputs, as many as the node has (references to tensors take them over as the value that is referred to); until weft_run_end.
TF_CAPI_EXPORT TF_Status* weft_run_begin(weft_lone_node* n, const TF_Tensor* const* inputs, size_t num_inputs, weft_resources* resources,
                                         weft_cancellation* cancellation, weft_run** out);
TF_CAPI_EXPORT void weft_run_end(weft_run* run);
// Runs a kernel of the engine, and waits for one that is asynchronous.
TF_CAPI_EXPORT TF_Status* weft_lone_node_compute(weft_lone_node* n, weft_run* run);
// Shapes of inputs, their values where they are known (null: not), and what they hold where they are resources (dtype 0: not known).
typedef struct weft_held {
  int dtype;
  weft_dims shape;
} weft_held;
TF_CAPI_EXPORT TF_Status* weft_shapes_begin(weft_lone_node* n, const weft_dims* inputs, const TF_Tensor* const* values, const weft_held* held,
                                            size_t num_inputs, weft_shapes** out);
TF_CAPI_EXPORT void weft_shapes_end(weft_shapes* s);
// The rule of the node's op.
TF_CAPI_EXPORT TF_Status* weft_shapes_infer(weft_shapes* s);

TF_CAPI_EXPORT int weft_cancellation_cancelled(weft_cancellation* c);
TF_CAPI_EXPORT int64_t weft_cancellation_token(weft_cancellation* c);
// 0, and release(data) was called: cancelled already.
TF_CAPI_EXPORT int weft_cancellation_register(weft_cancellation* c, int64_t token, void (*call)(void*), void (*release)(void*), void* data);
TF_CAPI_EXPORT int weft_cancellation_deregister(weft_cancellation* c, int64_t token);
TF_CAPI_EXPORT int weft_cancellation_try_deregister(weft_cancellation* c, int64_t token);
TF_CAPI_EXPORT void weft_cancellation_cancel(weft_cancellation* c);
// One of the caller's own, in memory that he gives, aligned for any type; cancelled when its parent (which may be null) is.
enum { WEFT_CANCELLATION_SIZE = 256 };
TF_CAPI_EXPORT void weft_cancellation_construct(void* memory, weft_cancellation* parent);
TF_CAPI_EXPORT void weft_cancellation_destroy(void* memory);

// ---- Threads ----

TF_CAPI_EXPORT weft_pool* weft_pool_new(int threads);
TF_CAPI_EXPORT void weft_pool_delete(weft_pool* pool);
TF_CAPI_EXPORT int weft_pool_threads(weft_pool* pool);
// Returns when all of [0, n) is done. What a part throws is thrown here.
TF_CAPI_EXPORT void weft_pool_for(weft_pool* pool, int64_t n, double nanoseconds, void (*part)(void*, int64_t, int64_t), void* data);
// Calls task(data) later, which frees data.
TF_CAPI_EXPORT void weft_pool_schedule(weft_pool* pool, void (*task)(void*), void* data);

// ---- Resources of C++ classes, known by container, type and name ----

typedef struct weft_resource_functions {
  void (*ref)(void* object);
  void (*unref)(void* object);
  void (*describe)(void* object, void* sink, void (*write)(void* sink, weft_text text));
} weft_resource_functions;

TF_CAPI_EXPORT weft_resources* weft_resources_new(weft_text default_container);
TF_CAPI_EXPORT void weft_resources_delete(weft_resources* r);
TF_CAPI_EXPORT weft_text weft_resources_default_container(weft_resources* r);
// Takes over one reference, whatever comes of it.
TF_CAPI_EXPORT TF_Status* weft_resources_create(weft_resources* r, weft_text container, weft_text type, weft_text name, void* object,
                                                const weft_resource_functions* functions);
// *object has one more reference.
TF_CAPI_EXPORT TF_Status* weft_resources_lookup(weft_resources* r, weft_text container, weft_text type, weft_text name, void** object);
TF_CAPI_EXPORT TF_Status* weft_resources_lookup_or_create(weft_resources* r, weft_text container, weft_text type, weft_text name, void** object,
                                                          TF_Status* (*make)(void* data, void** object), void* data,
                                                          const weft_resource_functions* functions);
TF_CAPI_EXPORT TF_Status* weft_resources_remove(weft_resources* r, weft_text container, weft_text type, weft_text name);
TF_CAPI_EXPORT void weft_resources_clear(weft_resources* r, weft_text container);

// A handle that keeps the object alive, which no name finds; takes over one reference. Then the object, without a further reference; null where it
// is of another type (an empty one is any), or the handle is of another kind.
TF_CAPI_EXPORT void weft_handle_set_object(void* handle, weft_text type, void* object, const weft_resource_functions* functions);
TF_CAPI_EXPORT void* weft_handle_object(const void* handle, weft_text type);

// ---- Variables: counted ----

typedef struct weft_variable weft_variable;
TF_CAPI_EXPORT weft_variable* weft_variable_new(int dtype);
TF_CAPI_EXPORT void weft_variable_delete(weft_variable* v);
TF_CAPI_EXPORT void* weft_variable_mutex(weft_variable* v);  // a std::shared_mutex
TF_CAPI_EXPORT TF_Tensor* weft_variable_tensor(weft_variable* v);
TF_CAPI_EXPORT int weft_variable_dtype(weft_variable* v);
TF_CAPI_EXPORT int weft_variable_initialized(weft_variable* v);
TF_CAPI_EXPORT void weft_variable_set_initialized(weft_variable* v, int initialized);
TF_CAPI_EXPORT TF_Status* weft_variable_lookup(weft_resources* r, const void* handle, weft_variable** out);
// Under the handle's name; what is there already and has a value is AlreadyExists.
TF_CAPI_EXPORT TF_Status* weft_variable_create(weft_resources* r, const void* handle, weft_variable* v);

// ---- Lookup tables: those of the engine, and those of C++ classes ----

typedef struct weft_table weft_table;
typedef struct weft_table_functions {
  weft_resource_functions resource;
  int key_dtype, value_dtype;
  weft_dims key_shape, value_shape;  // read once
  int64_t (*size)(void* object);
  // `run` may be null. `out` is there, of the right shape; a missing function is Unimplemented.
  TF_Status* (*find)(void* object, weft_run* run, const TF_Tensor* keys, const TF_Tensor* default_value, TF_Tensor* out);
  TF_Status* (*insert)(void* object, weft_run* run, const TF_Tensor* keys, const TF_Tensor* values);
  TF_Status* (*remove)(void* object, weft_run* run, const TF_Tensor* keys);
  TF_Status* (*import)(void* object, weft_run* run, const TF_Tensor* keys, const TF_Tensor* values);
  TF_Status* (*export_values)(void* object, weft_run* run);  // to the outputs "keys" and "values"
} weft_table_functions;

// The table of a handle, or of container and name: the object of a C++ class with one more reference, or else one of the engine's.
TF_CAPI_EXPORT TF_Status* weft_table_lookup(weft_resources* r, const void* handle, void** object, weft_table** table);
TF_CAPI_EXPORT TF_Status* weft_table_lookup_named(weft_resources* r, weft_text container, weft_text name, void** object, weft_table** table);
TF_CAPI_EXPORT void weft_table_delete(weft_table* t);
// Takes one reference over, whatever comes of it.
TF_CAPI_EXPORT TF_Status* weft_table_create(weft_resources* r, weft_text container, weft_text name, void* object, const weft_table_functions* f);
TF_CAPI_EXPORT weft_text weft_table_type(void);  // the type in handles of tables
TF_CAPI_EXPORT int weft_table_dtype(weft_table* t, int values);
TF_CAPI_EXPORT weft_dims weft_table_shape(weft_table* t, int values);
TF_CAPI_EXPORT int64_t weft_table_size(weft_table* t);
TF_CAPI_EXPORT TF_Status* weft_table_find(weft_table* t, const TF_Tensor* keys, const TF_Tensor* default_value, TF_Tensor* out);
TF_CAPI_EXPORT TF_Status* weft_table_insert(weft_table* t, const TF_Tensor* keys, const TF_Tensor* values);
TF_CAPI_EXPORT TF_Status* weft_table_remove(weft_table* t, const TF_Tensor* keys);
TF_CAPI_EXPORT TF_Status* weft_table_import(weft_table* t, const TF_Tensor* keys, const TF_Tensor* values);
TF_CAPI_EXPORT TF_Status* weft_table_export(weft_table* t, TF_Tensor** keys, TF_Tensor** values);

// ---- Functions that a kernel calls ----

typedef struct weft_function weft_function;
typedef struct weft_function_options {
  weft_text target, config_proto, executor_type, state_handle;
  int multi_device;
  const weft_text *input_devices, *output_devices;
  size_t num_input_devices, num_output_devices;
  weft_text attr;  // a serialized AttrValue with the function and its attributes; empty: as an attribute of the node names it
  const weft_library* library;  // where functions are looked for; null: where the run finds them
} weft_function_options;
TF_CAPI_EXPORT int weft_run_has_functions(weft_run* run);
TF_CAPI_EXPORT TF_Status* weft_function_instantiate(weft_run* run, weft_text name, const weft_function_options* options, weft_function** out);
// Whether a name of a device is that of the one that the run is on.
TF_CAPI_EXPORT int weft_run_is_on(weft_run* run, weft_text device);
TF_CAPI_EXPORT void weft_function_delete(weft_function* f);
TF_CAPI_EXPORT int weft_function_num_args(weft_function* f);
TF_CAPI_EXPORT int weft_function_num_rets(weft_function* f);
TF_CAPI_EXPORT int weft_function_arg_type(weft_function* f, int i);
TF_CAPI_EXPORT int weft_function_ret_type(weft_function* f, int i);
typedef struct weft_call_options {
  weft_cancellation* cancellation;  // null: that of the run
  int own_rendezvous;
} weft_call_options;
// Calls done once, perhaps before this returns; results (of which the callee takes over all) are there if the code is 0. The run must last as long.
TF_CAPI_EXPORT void weft_function_run(weft_run* run, weft_function* f, const weft_call_options* options, const TF_Tensor* const* args, int num_args,
                                      void* data, void (*done)(void* data, int code, weft_text message, TF_Tensor** results, int num_results));
// The functions of a run's program, or null; another reference to functions; functions of one's own (a serialized FunctionDefLibrary), before those of
// `base` (which may be null) without the removed ones.
TF_CAPI_EXPORT weft_library* weft_run_library(weft_run* run);
TF_CAPI_EXPORT weft_library* weft_library_share(const weft_library* l);
TF_CAPI_EXPORT TF_Status* weft_library_with(const weft_library* base, const weft_text* removed, size_t num_removed, weft_text added,
                                            weft_library** out);
TF_CAPI_EXPORT void weft_library_delete(weft_library* l);
TF_CAPI_EXPORT int weft_library_contains(const weft_library* l, weft_text name);
TF_CAPI_EXPORT TF_Status* weft_library_find(const weft_library* l, weft_text name, TF_Buffer** function);
// The names, and with each that of its gradient's function, if it has one.
typedef void (*weft_add_function)(void* sink, weft_text name, weft_text gradient);
TF_CAPI_EXPORT void weft_library_names(const weft_library* l, void* sink, weft_add_function add);

// ---- Datasets: those of C++ classes, and the engine's seen from them ----

typedef struct weft_dataset weft_dataset;  // a dataset of the engine; it does not keep it alive
typedef struct weft_iterator weft_iterator;  // a walk over one
typedef struct weft_walk weft_walk;  // the surroundings of one request for an element
typedef void (*weft_add_tensor)(void* sink, const TF_Tensor* tensor);
typedef struct weft_dataset_functions {
  weft_resource_functions resource;
  int64_t (*cardinality)(void* object);
  TF_Status* (*external_state)(void* object);  // OK where it depends on nothing else
  TF_Status* (*iterate)(void* object, weft_walk* walk, weft_text prefix, void** iterator);
  TF_Status* (*next)(void* iterator, weft_walk* walk, void* sink, weft_add_tensor add, int* end);
  void (*end)(void* iterator);
  TF_Status* (*at)(void* object, weft_walk* walk, int64_t index, void* sink, weft_add_tensor add);
} weft_dataset_functions;
typedef struct weft_dataset_def {
  weft_text op;
  const int* types;
  const weft_dims* shapes;
  size_t num_types, num_shapes;
} weft_dataset_def;

// A variant that holds the object; with a run as what its op made of its inputs. Takes one reference over, whatever comes of it.
TF_CAPI_EXPORT TF_Status* weft_dataset_make(weft_run* run, const weft_dataset_def* def, void* object, const weft_dataset_functions* f,
                                            TF_Tensor** out);
// The object of these functions in a variant; for another dataset what `wrap` makes of it, once: it goes with the dataset. Neither is referenced.
TF_CAPI_EXPORT TF_Status* weft_dataset_object(const TF_Tensor* variant, const weft_dataset_functions* f, void* (*wrap)(weft_dataset* dataset),
                                              void** object);
TF_CAPI_EXPORT void weft_dataset_delete(weft_dataset* d);
TF_CAPI_EXPORT size_t weft_dataset_num_components(weft_dataset* d);
TF_CAPI_EXPORT int weft_dataset_type(weft_dataset* d, size_t i);
TF_CAPI_EXPORT weft_dims weft_dataset_shape(weft_dataset* d, size_t i);
TF_CAPI_EXPORT int64_t weft_dataset_cardinality(weft_dataset* d);
TF_CAPI_EXPORT TF_Buffer* weft_dataset_debug_string(weft_dataset* d);
TF_CAPI_EXPORT TF_Status* weft_dataset_at(weft_dataset* d, weft_walk* walk, int64_t index, void* sink, weft_add_tensor add);
TF_CAPI_EXPORT TF_Status* weft_dataset_iterate(weft_dataset* d, weft_walk* walk, weft_iterator** out);
TF_CAPI_EXPORT TF_Status* weft_iterator_next(weft_iterator* it, weft_walk* walk, void* sink, weft_add_tensor add, int* end);
TF_CAPI_EXPORT void weft_iterator_delete(weft_iterator* it);
// Surroundings of one's own, to be deleted: those of a run, and those that outlast the request.
TF_CAPI_EXPORT weft_walk* weft_walk_of_run(weft_run* run);
TF_CAPI_EXPORT weft_walk* weft_walk_copy(weft_walk* walk);
TF_CAPI_EXPORT void weft_walk_delete(weft_walk* walk);
TF_CAPI_EXPORT weft_pool* weft_walk_pool(weft_walk* walk);
TF_CAPI_EXPORT weft_resources* weft_walk_resources(weft_walk* walk);
TF_CAPI_EXPORT weft_cancellation* weft_walk_cancellation(weft_walk* walk);  // may be null

// ---- Rules: an op in terms of others, for its gradient or for the compiler ----

typedef struct weft_value weft_value;  // belongs to the rule
typedef struct weft_rule_attr {
  weft_text name;
  int kind;  // WEFT_ATTR_INT (also bool and type, by `kind`), FLOAT, STRING, or with WEFT_ATTR_LIST a list of ints
  int64_t number;
  float real;
  weft_text text;
  const int64_t* list;
  size_t size;
} weft_rule_attr;
enum { WEFT_RULE_INPUT, WEFT_RULE_OUTPUT, WEFT_RULE_GRADIENT };
TF_CAPI_EXPORT const weft_node* weft_rule_node(weft_rule* r);
// Null, and an error of the rule, where there is none: the compiler's rules have inputs only.
TF_CAPI_EXPORT weft_value* weft_rule_value(weft_rule* r, int which, int i);
TF_CAPI_EXPORT weft_value* weft_rule_constant(weft_rule* r, const TF_Tensor* tensor);
TF_CAPI_EXPORT weft_value* weft_rule_apply(weft_rule* r, weft_text op, weft_value* const* inputs, size_t num_inputs, const weft_rule_attr* attrs,
                                           size_t num_attrs, int output);
TF_CAPI_EXPORT int weft_value_dtype(weft_value* v);
// A result for each input (gradients; null: none flows there) or for each output.
TF_CAPI_EXPORT void weft_rule_result(weft_rule* r, int i, weft_value* v);
// For an op of another place; f null: nothing flows back.
TF_CAPI_EXPORT void weft_register_gradient(weft_text op, weft_rule_function f, void* data);
// A gradient as a function, for where there is no other: a FunctionDef into `function`, which is empty. f null: nothing flows back.
typedef TF_Status* (*weft_function_gradient)(void* data, const weft_node* node, TF_Buffer* function);
TF_CAPI_EXPORT void weft_register_function_gradient(weft_text op, weft_function_gradient f, void* data);
// A gradient as nodes, for TF_AddGradients: `dy` has what flows out of each output, `dx` is filled with what flows into each input (oper null: nothing).
// Nodes that it adds are named below `scope`. f null: nothing flows back.
typedef TF_Status* (*weft_graph_gradient)(void* data, struct TF_Graph* graph, struct TF_Operation* op, weft_text scope, const struct TF_Output* dy,
                                          struct TF_Output* dx);
TF_CAPI_EXPORT void weft_register_graph_gradient(weft_text op, weft_graph_gradient f, void* data);
// The OpDef that the texts describe, as bytes.
TF_CAPI_EXPORT TF_Status* weft_op_def_bytes(const weft_op_def* def, TF_Buffer** out);

// ---- Image files; rows of pixels may be further apart than they are long ----

typedef struct weft_image {
  int64_t width, height, channels;
  int bits;  // of a sample
  int png_color_type;
  const void* pixels;  // to be encoded
  int64_t row_bytes;
} weft_image;
// Where the pixels go; null gives up.
typedef void* (*weft_allocate_pixels)(void* data, const weft_image* image, int64_t* row_bytes);
// Key and text by turns.
typedef void (*weft_add_text)(void* sink, weft_text key, weft_text text);
TF_CAPI_EXPORT TF_Status* weft_png_info(weft_text bytes, weft_image* image, void* sink, weft_add_text add);
// channels 0: as in the file. bits is 8 or 16.
TF_CAPI_EXPORT TF_Status* weft_png_decode(weft_text bytes, int channels, int bits, void* data, weft_allocate_pixels allocate);
TF_CAPI_EXPORT TF_Status* weft_png_encode(const weft_image* image, int level, const weft_text* texts, size_t num_texts, TF_Buffer** out);
typedef struct weft_jpeg_options {
  int channels, ratio, fancy_upscaling, recover_truncated, fast_dct, crop;
  float acceptable_fraction;
  int64_t crop_x, crop_y, crop_width, crop_height;
} weft_jpeg_options;
TF_CAPI_EXPORT TF_Status* weft_jpeg_info(weft_text bytes, weft_image* image);
TF_CAPI_EXPORT TF_Status* weft_jpeg_decode(weft_text bytes, const weft_jpeg_options* options, void* data, weft_allocate_pixels allocate);
typedef struct weft_jpeg_encoding {
  int quality, progressive, optimize_size, chroma_downsampling, density_in_cm, x_density, y_density;
  weft_text xmp;
} weft_jpeg_encoding;
TF_CAPI_EXPORT TF_Status* weft_jpeg_encode(const weft_image* image, const weft_jpeg_encoding* encoding, TF_Buffer** out);

// All frames, or the first: rows of red, green and blue. Null of `allocate` gives up.
TF_CAPI_EXPORT TF_Status* weft_gif_decode(weft_text bytes, int all_frames, void* data,
                                          void* (*allocate)(void* data, int64_t frames, int64_t width, int64_t height, int64_t channels));

// ---- Sound: frames of samples in [-1, 1], of 16 bits in a WAV file ----

TF_CAPI_EXPORT TF_Status* weft_wav_decode(weft_text bytes, uint32_t* rate, TF_Tensor** samples);  // frames by channels
TF_CAPI_EXPORT TF_Status* weft_wav_encode(const float* samples, size_t frames, size_t channels, size_t rate, TF_Buffer** out);

// ---- Packed bytes ----

typedef struct weft_zlib weft_zlib;
enum { WEFT_ZLIB_NO_FLUSH, WEFT_ZLIB_SYNC, WEFT_ZLIB_FULL, WEFT_ZLIB_FINISH };
// zlib's numbers. Unpacking takes the first alone.
TF_CAPI_EXPORT TF_Status* weft_zlib_new(int pack, int window_bits, int level, int memory_level, int strategy, weft_zlib** out);
TF_CAPI_EXPORT void weft_zlib_delete(weft_zlib* z);
TF_CAPI_EXPORT TF_Status* weft_zlib_reset(weft_zlib* z);
// Takes from *in, writes to *out; both, and their sizes, become what is left. *ended: the packed data are complete.
TF_CAPI_EXPORT TF_Status* weft_zlib_step(weft_zlib* z, weft_text* in, char** out, size_t* out_size, int flush, int* ended);

// Snappy's raw format. Bytes that are none of it are DataLoss.
TF_CAPI_EXPORT TF_Status* weft_snappy_pack(weft_text bytes, TF_Buffer** out);
TF_CAPI_EXPORT TF_Status* weft_snappy_unpack(weft_text bytes, TF_Buffer** out);

// ---- Checkpoints: a slice is a text, "0,2:-" ----

typedef struct weft_bundle_writer weft_bundle_writer;
TF_CAPI_EXPORT weft_bundle_writer* weft_bundle_writer_new(weft_text prefix);
TF_CAPI_EXPORT void weft_bundle_writer_delete(weft_bundle_writer* w);
TF_CAPI_EXPORT TF_Status* weft_bundle_writer_add(weft_bundle_writer* w, weft_text key, const TF_Tensor* tensor);
TF_CAPI_EXPORT TF_Status* weft_bundle_writer_add_slice(weft_bundle_writer* w, weft_text key, weft_dims whole, weft_text slice, const TF_Tensor* part);
TF_CAPI_EXPORT TF_Status* weft_bundle_writer_finish(weft_bundle_writer* w);
TF_CAPI_EXPORT TF_Status* weft_merge_bundles(const weft_text* prefixes, size_t num_prefixes, weft_text merged, int allow_missing);
struct TF_CheckpointReader;
TF_CAPI_EXPORT TF_Status* weft_checkpoint_slice(struct TF_CheckpointReader* reader, weft_text key, weft_text slice, TF_Tensor** out);
// In no order; nothing for a tensor that is there as a whole.
TF_CAPI_EXPORT TF_Status* weft_checkpoint_slices(struct TF_CheckpointReader* reader, weft_text key, void* sink, weft_add_text add);

// ---- Messages: their fields by number, as proto/ has them ----

// A message is a row of slots: one for each field, one for each oneof or optional number (which of its fields is set), and one for unknown fields.
typedef struct weft_message_field {
  int number, kind, key_kind;  // protobuf's numbers of types; key_kind is 0 for what is no map, else kind is that of the values
  int flags;  // 1 repeated, 2 packed
  int set;  // the slot that says whether it is set, or -1
  const struct weft_message_type* sub;
} weft_message_field;
typedef struct weft_message_type {
  weft_text name;
  const weft_message_field* fields;
  int num_fields, num_slots;
} weft_message_type;
TF_CAPI_EXPORT const weft_message_type* weft_message_type_of(weft_text name);  // never freed

// ---- Messages as text: form 0 in lines, 1 in one line, 2 JSON. What cannot be read gives an empty text, or null ----

TF_CAPI_EXPORT TF_Buffer* weft_message_to_text(weft_text type, weft_text bytes, int form);
TF_CAPI_EXPORT TF_Buffer* weft_message_from_text(weft_text type, weft_text text);

// ---- While shapes are inferred ----

TF_CAPI_EXPORT const weft_node* weft_shapes_node(weft_shapes* s);
TF_CAPI_EXPORT int weft_shapes_graph_version(weft_shapes* s);
TF_CAPI_EXPORT weft_dims weft_shapes_input(weft_shapes* s, int i);
TF_CAPI_EXPORT void weft_shapes_set_output(weft_shapes* s, int i, weft_dims shape);
TF_CAPI_EXPORT weft_dims weft_shapes_output(weft_shapes* s, int i);
// The rule of one of the engine's ops, with the inputs and the attributes of the same names; the types of the inputs do not matter.
TF_CAPI_EXPORT TF_Status* weft_shapes_apply(weft_shapes* s, weft_text op);
// The value of an input, if it is known; an input read as a shape, into dims (254 fit): its rank, -1 if that is unknown, -2 for an error.
TF_CAPI_EXPORT const TF_Tensor* weft_shapes_constant(weft_shapes* s, int i);
TF_CAPI_EXPORT int weft_shapes_constant_shape(weft_shapes* s, int i, int64_t* dims);
// What a resource or variant holds: its type, 0 if that is not known.
TF_CAPI_EXPORT int weft_shapes_handle(weft_shapes* s, int i, weft_dims* shape);
TF_CAPI_EXPORT void weft_shapes_set_handle(weft_shapes* s, int i, int dtype, weft_dims shape);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_CORE_WEFT_ABI_H_
