// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CC_SAVED_MODEL_CONSTANTS_H_
#define TENSORFLOW_CC_SAVED_MODEL_CONSTANTS_H_

namespace tensorflow {

inline constexpr char kSavedModelAssetsDirectory[] = "assets";
inline constexpr char kSavedModelFilenamePb[] = "saved_model.pb";
inline constexpr char kSavedModelFilenamePbTxt[] = "saved_model.pbtxt";
inline constexpr char kSavedModelVariablesDirectory[] = "variables";
inline constexpr char kSavedModelVariablesFilename[] = "variables";
inline constexpr char kSavedModelInitOpSignatureKey[] = "__saved_model_init_op";

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_SAVED_MODEL_CONSTANTS_H_
