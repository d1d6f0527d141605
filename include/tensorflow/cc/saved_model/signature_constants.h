// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CC_SAVED_MODEL_SIGNATURE_CONSTANTS_H_
#define TENSORFLOW_CC_SAVED_MODEL_SIGNATURE_CONSTANTS_H_

namespace tensorflow {

inline constexpr char kDefaultServingSignatureDefKey[] = "serving_default";
inline constexpr char kClassifyInputs[] = "inputs";
inline constexpr char kClassifyMethodName[] = "tensorflow/serving/classify";
inline constexpr char kClassifyOutputClasses[] = "classes";
inline constexpr char kClassifyOutputScores[] = "scores";
inline constexpr char kPredictInputs[] = "inputs";
inline constexpr char kPredictMethodName[] = "tensorflow/serving/predict";
inline constexpr char kPredictOutputs[] = "outputs";
inline constexpr char kRegressInputs[] = "inputs";
inline constexpr char kRegressMethodName[] = "tensorflow/serving/regress";
inline constexpr char kRegressOutputs[] = "outputs";

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_SAVED_MODEL_SIGNATURE_CONSTANTS_H_
