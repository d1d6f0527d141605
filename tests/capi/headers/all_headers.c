// SPDX-License-Identifier: Apache-2.0
//
// Includes every C header at once and holds the layouts that binary clients rely on (64-bit,
// numbers from TensorFlow 2.21). It only has to compile; all_headers.cc reads it as C++.
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_unified_experimental.h"
#include "tensorflow/c/env.h"
#include "tensorflow/c/experimental/filesystem/filesystem_interface.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_file_statistics.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"
#include "tensorflow/core/common_runtime/next_pluggable_device/c/tf_rendezvous_c_api.h"
#include "tensorflow/core/platform/ctstring.h"
#include "tensorflow/core/platform/ctstring_internal.h"
#include "tsl/platform/ctstring.h"
#include "tsl/platform/ctstring_internal.h"
#include "xla/tsl/c/tsl_status.h"

#include <assert.h>

// Programs that cannot use TensorFlow's C++-only header declare this one themselves.
extern void TFE_OpReset(TFE_Op*, const char* op_or_function_name, const char* device, TF_Status*);

#define SIZE(type, size) static_assert(sizeof(type) == (size), "size of " #type)
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), "offset of " #type "." #member)

SIZE(TF_Buffer, 24);
AT(TF_Buffer, length, 8);
AT(TF_Buffer, data_deallocator, 16);
SIZE(TF_AllocatorAttributes, 16);
AT(TF_AllocatorAttributes, on_host, 8);
SIZE(TF_StringView, 16);
AT(TF_StringView, len, 8);
SIZE(TF_Input, 16);
AT(TF_Input, index, 8);
SIZE(TF_Output, 16);
AT(TF_Output, index, 8);
SIZE(TF_AttrMetadata, 32);
AT(TF_AttrMetadata, list_size, 8);
AT(TF_AttrMetadata, type, 16);
AT(TF_AttrMetadata, total_size, 24);
SIZE(TF_WhileParams, 72);
AT(TF_WhileParams, cond_graph, 8);
AT(TF_WhileParams, cond_inputs, 16);
AT(TF_WhileParams, cond_output, 24);
AT(TF_WhileParams, body_graph, 40);
AT(TF_WhileParams, body_inputs, 48);
AT(TF_WhileParams, body_outputs, 56);
AT(TF_WhileParams, name, 64);
SIZE(TF_FileStatistics, 24);
AT(TF_FileStatistics, mtime_nsec, 8);
AT(TF_FileStatistics, is_directory, 16);
SIZE(TF_ThreadOptions, 24);
AT(TF_ThreadOptions, numa_node, 16);
SIZE(TF_ShapeAndType, 24);
AT(TF_ShapeAndType, dims, 8);
AT(TF_ShapeAndType, dtype, 16);
SIZE(TF_ShapeAndTypeList, 16);
AT(TF_ShapeAndTypeList, items, 8);
SIZE(TF_Shape, 16);
AT(TF_Shape, dim_sizes, 8);
SIZE(TFE_CancelCallback, 16);
AT(TFE_CancelCallback, context, 8);
SIZE(TFE_CustomDevice, 56);
AT(TFE_CustomDevice, copy_tensor_to_device, 8);
AT(TFE_CustomDevice, pack, 40);
AT(TFE_CustomDevice, shall_pin_to_this_device, 48);
SIZE(TFE_CustomDeviceTensorHandle, 40);
AT(TFE_CustomDeviceTensorHandle, num_dims, 8);
AT(TFE_CustomDeviceTensorHandle, summarize, 32);
SIZE(TP_OptimizerConfigs, 96);
AT(TP_OptimizerConfigs, scoped_allocator_optimization, 88);
SIZE(TP_Optimizer, 40);
AT(TP_Optimizer, destroy_func, 32);
SIZE(TP_OptimizerRegistrationParams, 56);
AT(TP_OptimizerRegistrationParams, optimizer, 48);
SIZE(TF_RendezvousThunk, 32);
AT(TF_RendezvousThunk, start_abort_func, 24);
SIZE(TF_FilesystemOps, 264);
AT(TF_FilesystemOps, stat, 120);
AT(TF_FilesystemOps, get_filesystem_configuration_keys, 256);
SIZE(TF_FilesystemPluginOps, 104);
AT(TF_FilesystemPluginOps, read_only_memory_region_ops, 96);
SIZE(TF_FilesystemPluginInfo, 32);
AT(TF_FilesystemPluginInfo, plugin_memory_free, 24);
SIZE(TF_TString, 24);
SIZE(TF_InputRange_Args, 32);
AT(TF_InputRange_Args, status, 24);
AT(TF_TString, u.large.ptr, 16);
AT(TF_TString, u.offset.offset, 4);
AT(TF_TString, u.view.ptr, 8);
AT(TF_TString, u.view.owner_ref, 16);

static_assert(TF_FLOAT4_E2M1FN == 33 && TF_COMPLEX == TF_COMPLEX64, "TF_DataType");
static_assert(TF_UNAUTHENTICATED == 16 && TF_DATA_LOSS == 15, "TF_Code");
static_assert(TF_ATTR_FUNC == 8, "TF_AttrType");
static_assert(TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32 == 3, "TFE_ContextDevicePlacementPolicy");
static_assert(TF_TString_SmallCapacity == 22 && TF_TSTR_VIEW == 3, "TF_TString");
