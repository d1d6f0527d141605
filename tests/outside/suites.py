"""The libraries whose own tests run.py runs, and which of their files."""

import dataclasses


@dataclasses.dataclass
class Suite:
    packages: str  # by name, without what they require: `tensorflow` is not to be installed
    files: str  # below site-packages
    tests_of: str = ""  # the repository and tag whose test files are laid beside the package, where its wheel has none
    rename: tuple = ()  # (pattern, replacement) of imports in these files


COMMON = (
    "absl-py attrs cloudpickle decorator dm-tree gast numpy opt_einsum packaging parameterized protobuf pytest requests scipy six tabulate typing_extensions "
    "wrapt certifi charset-normalizer idna urllib3"
)
SUITES = {
    "sonnet": Suite(
        "dm-sonnet==2.0.2",
        """sonnet/src/axis_norm_test.py sonnet/src/base_test.py sonnet/src/batch_apply_test.py sonnet/src/batch_norm_test.py sonnet/src/bias_test.py
        sonnet/src/conv_test.py sonnet/src/custom_getter_test.py sonnet/src/deferred_test.py sonnet/src/dropout_test.py sonnet/src/embed_test.py
        sonnet/src/linear_test.py sonnet/src/mixed_precision_test.py sonnet/src/moving_averages_test.py sonnet/src/recurrent_test.py sonnet/src/sequential_test.py
        sonnet/src/utils_test.py sonnet/src/nets/mlp_test.py sonnet/src/optimizers/adam_test.py sonnet/src/optimizers/sgd_test.py""",
    ),
    "probability": Suite(
        "tensorflow-probability==0.25.0 tf-keras==2.21.0",
        """tensorflow_probability/python/distributions/normal_test.py tensorflow_probability/python/distributions/gamma_test.py
        tensorflow_probability/python/distributions/categorical_test.py tensorflow_probability/python/distributions/mvn_tril_test.py
        tensorflow_probability/python/distributions/mixture_test.py tensorflow_probability/python/distributions/beta_test.py
        tensorflow_probability/python/distributions/transformed_distribution_test.py tensorflow_probability/python/bijectors/exp_test.py
        tensorflow_probability/python/bijectors/shift_test.py tensorflow_probability/python/bijectors/chain_test.py
        tensorflow_probability/python/bijectors/softplus_test.py tensorflow_probability/python/bijectors/sigmoid_test.py
        tensorflow_probability/python/math/linalg_test.py tensorflow_probability/python/math/special_test.py
        tensorflow_probability/python/util/deferred_tensor_test.py tensorflow_probability/python/mcmc/hmc_test.py
        tensorflow_probability/python/optimizer/bfgs_test.py""",
        tests_of="tensorflow/probability v0.25.0",
    ),
    "tf_keras": Suite(
        "tf-keras==2.21.0 h5py pillow",
        """tf_keras/src/layers/core/core_test.py tf_keras/src/layers/core/embedding_test.py tf_keras/src/layers/activation/relu_test.py
        tf_keras/src/layers/convolutional/conv_test.py tf_keras/src/layers/pooling/max_pooling_test.py tf_keras/src/layers/rnn/lstm_test.py
        tf_keras/src/layers/rnn/gru_test.py tf_keras/src/layers/merging/merging_test.py tf_keras/src/layers/normalization/layer_normalization_test.py
        tf_keras/src/layers/reshaping/reshape_test.py tf_keras/src/engine/functional_test.py tf_keras/src/engine/sequential_test.py
        tf_keras/src/optimizers/optimizer_test.py tf_keras/src/metrics/base_metric_test.py tf_keras/src/losses_test.py tf_keras/src/activations_test.py""",
        tests_of="keras-team/tf-keras v2.21.0",
        rename=(r"^(\s*)(from|import) tf_keras\.", r"\1\2 tf_keras.src."),
    ),
    "tf2onnx": Suite(
        "tf2onnx==1.17.0 onnx onnxruntime flatbuffers",
        "tests/test_backend.py tests/test_loops.py tests/test_cond.py tests/test_api.py tests/test_lstm.py",
    ),
    "datasets": Suite(
        "tensorflow-datasets==4.9.10 tensorflow-metadata googleapis-common-protos promise simple_parsing docstring_parser toml tqdm dill etils fsspec "
        "importlib_resources zipp psutil pyarrow immutabledict pandas python-dateutil pytz tzdata dropstackframe pillow",
        """tensorflow_datasets/core/features/feature_test.py tensorflow_datasets/core/features/text_feature_test.py
        tensorflow_datasets/core/features/tensor_feature_test.py tensorflow_datasets/core/features/sequence_feature_test.py
        tensorflow_datasets/core/example_serializer_test.py tensorflow_datasets/core/dataset_utils_test.py""",
    ),
    "gpflow": Suite(
        "gpflow==2.11.0 tensorflow-probability==0.25.0 tf-keras==2.21.0 check-shapes deprecated multipledispatch lark",
        "tests/gpflow/kernels/test_kernels.py tests/gpflow/test_base.py tests/gpflow/test_logdensities.py tests/gpflow/likelihoods/test_likelihoods.py",
    ),
}
