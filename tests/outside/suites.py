"""The libraries whose own tests run.py runs, and which of their files."""

import dataclasses


@dataclasses.dataclass
class Suite:
    packages: str  # by name, without what they require: `tensorflow` is not to be installed
    files: str  # patterns below the folder of packages, or below the checkout where `root`
    imports: str = "tensorflow"  # what is imported before the first file
    without: str = ""  # patterns of files that are not run
    tests_of: str = ""  # the repository and tag that has the test files, where the wheel has none
    helpers: str = ""  # patterns of files that the tests import and the wheel has not either
    rename: tuple = ()  # (pattern, replacement) of imports in these files, when they are laid beside the package
    root: bool = False  # the tests are a folder of the checkout and stay there
    apart: bool = False  # they are laid in a folder of their own, whose packages are not importable from it
    environment: dict = dataclasses.field(default_factory=dict)
    reasons: dict = dataclasses.field(default_factory=dict)  # a pattern of tests that do not pass on weft: why


COMMON = (
    "absl-py attrs cloudpickle decorator dm-tree gast numpy opt_einsum packaging parameterized protobuf pytest requests scipy six tabulate typing_extensions "
    "wrapt certifi charset-normalizer idna urllib3"
)
SUITES = {
    "sonnet": Suite("dm-sonnet==2.0.2", "sonnet/src/**/*_test.py", "tensorflow,tree,sonnet"),
    "probability": Suite(
        "tensorflow-probability==0.25.0 tf-keras==2.21.0 hypothesis mock mpmath sortedcontainers",
        " ".join(
            f"tensorflow_probability/python/{folder}/**/*_test.py"
            for folder in ("distributions", "bijectors", "mcmc", "math", "optimizer", "sts")
        ),
        "tensorflow,tf_keras,hypothesis,"
        + ",".join(
            f"tensorflow_probability.python.{module}"
            for module in ("distributions", "bijectors", "mcmc", "math", "optimizer", "sts", "vi", "internal.test_util")
        ),
        tests_of="tensorflow/probability v0.25.0",
        helpers="tensorflow_probability/python/**/*.py",
    ),
    "tf_keras": Suite(
        "tf-keras==2.21.0 h5py pillow",
        " ".join(f"tf_keras/src/{f}/**/*_test.py" for f in ("engine", "layers", "optimizers", "saving", "metrics"))
        + " tf_keras/src/*_test.py",
        "tensorflow,tf_keras",
        tests_of="keras-team/tf-keras v2.21.0",
        helpers="tf_keras/src/**/*.py",
        rename=(r"^(\s*)(from|import) tf_keras(?=[. ])(?!\.protobuf)", r"\1\2 tf_keras.src"),
    ),
    "tf2onnx": Suite(
        "tf2onnx==1.17.0 onnx onnxruntime flatbuffers timeout-decorator",
        "tests/test_*.py",
        "tensorflow,onnx,onnxruntime,tf2onnx",
        without="tests/test_*cudnn*.py tests/test_tfjs*.py tests/test_pretrained*.py tests/test_profile.py tests/test_tflite*.py tests/test_seq2seq.py",
        tests_of="onnx/tensorflow-onnx v1.17.0",
        root=True,
        environment={"TF2ONNX_SKIP_TFLITE_TESTS": "TRUE", "TF2ONNX_SKIP_TFJS_TESTS": "TRUE"},
    ),
    "datasets": Suite(
        "tensorflow-datasets==4.9.10 tensorflow-metadata googleapis-common-protos promise simple_parsing docstring_parser toml tqdm dill etils fsspec "
        "importlib_resources zipp psutil pyarrow immutabledict pandas python-dateutil pytz tzdata dropstackframe pillow matplotlib contourpy cycler fonttools "
        "kiwisolver pyparsing jinja2 markupsafe beautifulsoup4 soupsieve pydub conllu",
        "tensorflow_datasets/core/**/*_test.py",
        "tensorflow,tensorflow_datasets,pandas",
    ),
    "gpflow": Suite(
        "gpflow==2.11.0 tensorflow-probability==0.25.0 tf-keras==2.21.0 check-shapes deprecated multipledispatch lark",
        "tests/gpflow/**/test_*.py",
        "tensorflow,tf_keras,gpflow",
        tests_of="GPflow/GPflow",
        root=True,
    ),
    # TensorFlow's own, of the last version whose repository can be had as a whole; what it expects and 2.21 does not is left out by running both.
    "tensorflow": Suite(
        "scipy portpicker mock",
        " ".join(
            f"tensorflow/python/{folder}/**/*_test.py"
            for folder in (
                "kernel_tests",
                "ops",
                "eager",
                "framework",
                "data",
                "training",
                "saved_model",
                "module",
                "util",
                "client",
            )
        ),
        "tensorflow,private_names",
        without="*benchmark* *tpu*",
        tests_of="graphcore/tensorflow, which is TensorFlow 2.6.3",
        apart=True,
    ),
}
