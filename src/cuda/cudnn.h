// cuDNN's graph interface, dynamically loaded: convolutions, attention. The declarations are weft's own; descriptors are made, get attributes and are finished.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.h"

namespace weft_engine::cuda {

// cudnnDataType_t
enum class DnnType : int { kFloat = 0, kDouble = 1, kHalf = 2, kInt32 = 4, kBfloat16 = 9, kBool = 11 };
// cudnnBackendDescriptorType_t
enum class DnnKind : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristic = 4,
  kPlan = 5,
  kForward = 10,
  kFilterGradient = 11,
  kInputGradient = 12,
  kPointwiseOperation = 13,
  kGraph = 15,
  kPack = 16,
  kTensor = 17,
  kProduct = 18,
  kProductOperation = 19,
  kReduction = 21,
  kReductionOperation = 22,
  kReshapeOperation = 31,
  kDeviceProperties = 38,
};
// cudnnBackendAttributeType_t
enum class DnnValue : int {
  kHandle = 0,
  kDataType = 1,
  kBool = 2,
  kInt64 = 3,
  kFloat = 4,
  kDouble = 5,
  kPointer = 6,
  kConvolutionMode = 7,
  kHeuristicMode = 8,
  kNote = 11,
  kPointwiseMode = 14,
  kDescriptor = 15,
  kReductionMode = 18,
  kChar = 24,
};
// cudnnBackendAttributeName_t
enum class DnnAttribute : int {
  kPointwiseMode = 0,
  kPointwiseCompute = 1,
  kPointwiseAxis = 9,
  kConvolutionCompute = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionHigh = 104,
  kConvolutionLow = 105,
  kConvolutionRank = 106,
  kHeuristicMode = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kHeuristicProperties = 204,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kPlanProperties = 407,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardFilter = 703,
  kForwardInput = 704,
  kForwardOutput = 705,
  kInputGradientAlpha = 706,
  kInputGradientBeta = 707,
  kInputGradientConvolution = 708,
  kInputGradientFilter = 709,
  kInputGradientResult = 710,
  kInputGradientOf = 711,
  kFilterGradientAlpha = 712,
  kFilterGradientBeta = 713,
  kFilterGradientConvolution = 714,
  kFilterGradientResult = 715,
  kFilterGradientInput = 716,
  kFilterGradientOf = 717,
  kPointwiseOf = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorNumber = 906,
  kTensorVirtual = 907,
  kTensorByValue = 908,
  kPackNumbers = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
  kProductCompute = 1500,
  kProductA = 1520,
  kProductB = 1521,
  kProductC = 1522,
  kProductOf = 1523,
  kReductionMode = 1600,
  kReductionCompute = 1601,
  kReductionX = 1610,
  kReductionY = 1611,
  kReductionOf = 1612,
  kReshapeX = 2200,
  kReshapeY = 2201,
  kPropertiesText = 2702,
};
// cudnnPointwiseMode_t, cudnnReduceTensorOp_t
enum class DnnPointwise : int {
  kAdd = 0,
  kMul = 1,
  kDiv = 6,
  kSub = 9,
  kExp = 13,
  kLog = 15,
  kIdentity = 21,
  kGreaterEqual = 303,
  kIndex = 501,
  kSelect = 601,
};
enum class DnnReduction : int { kSum = 0, kMax = 3 };
// cudnnBackendHeurMode_t
enum class DnnHeuristic : int { kFallback = 2, kA = 3 };
// cudnnBackendNumericalNote_t
enum class DnnNote : int { kTensorCores = 0, kNarrowInputs = 1, kNarrowSums = 2, kFft = 3, kNotDeterministic = 4, kWinograd = 5 };
inline constexpr int kDnnNotes = 16;  // more than there are kinds
inline constexpr int kDnnCrossCorrelation = 1;  // cudnnConvolutionMode_t: filters are not reversed

#define WEFT_CUDNN_FUNCTIONS(F)                                                                                                           \
  F(cudnnCreate, create, (void** handle))                                                                                                 \
  F(cudnnSetStream, set_stream, (void* handle, void* stream))                                                                             \
  F(cudnnBackendCreateDescriptor, create_descriptor, (DnnKind kind, void** descriptor))                                                   \
  F(cudnnBackendDestroyDescriptor, destroy_descriptor, (void* descriptor))                                                                \
  F(cudnnBackendFinalize, finish, (void* descriptor))                                                                                     \
  F(cudnnBackendSetAttribute, set, (void* descriptor, DnnAttribute attribute, DnnValue type, int64_t count, const void* values))          \
  F(cudnnBackendGetAttribute, get, (void* descriptor, DnnAttribute attribute, DnnValue type, int64_t most, int64_t* count, void* values)) \
  F(cudnnBackendExecute, execute, (void* handle, void* plan, void* pack))

struct Cudnn {
#define WEFT_CUDNN_POINTER(symbol, name, arguments) int(*name) arguments = nullptr;
  WEFT_CUDNN_FUNCTIONS(WEFT_CUDNN_POINTER)
#undef WEFT_CUDNN_POINTER
  const char* (*error_text)(int status) = nullptr;
  size_t (*version)() = nullptr;
  core::Status status(int error, const char* what) const;
};

// Opened once. NotFound says what to install.
core::Result<const Cudnn*> cudnn();

}  // namespace weft_engine::cuda
