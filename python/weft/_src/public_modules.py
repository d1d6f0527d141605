"""Where TensorFlow has the classes that programs print or pickle, when `tensorflow` means weft (as_tensorflow.py).

A class gets TensorFlow's module (and name, where that differs) once our module of it is loaded."""

# Our module -> lines "TensorFlow's module: classes"; Ours=Theirs where the names differ.
CLASSES = {
    "compat.session": ["client.session: BaseSession Session InteractiveSession"],
    "compat.v1.train.saver": ["training.saver: Saver"],
    "data.dataset": ["data.ops.dataset_ops: Dataset=DatasetV2 DatasetSpec"],
    "data.iterator": [
        "data.ops.iterator_ops: Iterator=IteratorBase OwnedIterator IteratorSpec",
        "data.ops.optional_ops: Optional=_OptionalImpl OptionalSpec",
        "data.ops.dataset_ops: NumpyIterator",
    ],
    "data.options": [
        "data.util.options: _Fields=OptionsBase",
        "data.ops.options: AutotuneAlgorithm AutoShardPolicy ExternalStatePolicy AutotuneOptions DistributeOptions OptimizationOptions ServiceOptions ThreadingOptions Options",
    ],
    "data.readers": [
        "data.ops.readers: TFRecordDatasetV2 TextLineDatasetV2 FixedLengthRecordDatasetV2",
        "data.experimental.ops.readers: CsvDatasetV2 SqlDatasetV2",
    ],
    "data.service": [
        "data.experimental.ops.data_service_ops: CrossTrainerCache ShardingPolicy",
        "data.experimental.service.server_lib: DispatcherConfig DispatchServer WorkerConfig WorkerServer",
    ],
    "data.structure": ["data.util.structure: NoneTensorSpec"],
    "distribute.central_storage": [
        "distribute.central_storage_strategy: CentralStorageStrategy CentralStorageStrategyV1"
    ],
    "distribute.default": [
        "distribute.distribute_lib: _DefaultDistributionStrategy _DefaultReplicaContext _DefaultDistributionExtended"
    ],
    "distribute.extended": ["distribute.distribute_lib: StrategyExtendedV1 StrategyExtendedV2"],
    "distribute.input": ["distribute.input_lib: DistributedDataset DistributedDatasetsFromFunction"],
    "distribute.mirrored": ["distribute.mirrored_strategy: MirroredExtended MirroredStrategy MirroredStrategyV1"],
    "distribute.one_device": [
        "distribute.one_device_strategy: OneDeviceExtended OneDeviceStrategy OneDeviceStrategyV1"
    ],
    "distribute.replica_context": ["distribute.distribute_lib: ReplicaContext ReplicaContextBase ReplicaContextV1"],
    "distribute.replicas": ["distribute.mirrored_run: _MirroredReplicaContext"],
    "distribute.strategy": ["distribute.distribute_lib: Strategy StrategyBase StrategyV1"],
    "distribute.values": ["distribute.values: DistributedValues Mirrored PerReplica PerReplicaSpec"],
    "data.tables": ["data.experimental.ops.lookup_ops: DatasetInitializer"],
    "framework.config": ["eager.context: LogicalDevice LogicalDeviceConfiguration PhysicalDevice"],
    "framework.device": [
        "framework.device_spec: DeviceSpec=DeviceSpecV2 DeviceSpecV1",
        "eager.context: _Device=_EagerDeviceContext",
    ],
    "framework.dtypes": ["framework.dtypes: DType"],
    "framework.anonymous_extension": [
        "framework.extension_type: AnonymousExtensionType AnonymousExtensionTypeSpec reinterpret"
    ],
    "framework.extension_type": [
        "framework.extension_type: BatchableExtensionType ExtensionType ExtensionTypeBatchEncoder ExtensionTypeSpec ExtensionTypeMeta=ExtensionTypeMetaclass"
    ],
    "framework.graph": ["framework.ops: Graph Operation name_scope=name_scope_v2", "framework.func_graph: FuncGraph"],
    "framework.indexed_slices": ["framework.indexed_slices: IndexedSlices IndexedSlicesSpec"],
    "framework.tensor": [
        "framework.ops: EagerTensor SymbolicTensor",
        "framework.tensor: Tensor",
        "util.object_identity: Reference",
    ],
    "framework.tensor_shape": ["framework.tensor_shape: TensorShape Dimension"],
    "framework.type_spec": ["framework.tensor: TensorSpec", "framework.type_spec: TypeSpec"],
    "function.concrete": ["eager.polymorphic_function.concrete_function: ConcreteFunction"],
    "function.critical_section": ["ops.critical_section_ops: CriticalSection"],
    "function.function": ["eager.polymorphic_function.polymorphic_function: Function"],
    "gradients.forward": ["eager.forwardprop: ForwardAccumulator"],
    "gradients.graph": ["ops.gradients_util: AggregationMethod"],
    "gradients.registry": ["framework.ops: RegisterGradient"],
    "gradients.tape": ["eager.backprop: GradientTape", "ops.unconnected_gradients: UnconnectedGradients"],
    "framework.gfile": ["platform.gfile: GFile"],
    "ops.image_ops": ["ops.image_ops_impl: ResizeMethod"],
    "ops.init_ops": [
        "ops.init_ops_v2: constant_initializer=Constant ones_initializer=Ones zeros_initializer=Zeros random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform"
    ],
    "ops.io_ops": ["lib.io.tf_record: TFRecordOptions TFRecordWriter"],
    "ops.linear_operator": ["ops.linalg.linear_operator: LinearOperator"],
    "ops.linear_operator_blocks": [
        "ops.linalg.linear_operator_block_diag: LinearOperatorBlockDiag",
        "ops.linalg.linear_operator_block_lower_triangular: LinearOperatorBlockLowerTriangular",
    ],
    "ops.linear_operator_composed": [
        "ops.linalg.linear_operator_adjoint: LinearOperatorAdjoint",
        "ops.linalg.linear_operator_composition: LinearOperatorComposition",
        "ops.linalg.linear_operator_inversion: LinearOperatorInversion",
    ],
    "ops.linear_operator_identities": [
        "ops.linalg.linear_operator_identity: LinearOperatorIdentity LinearOperatorScaledIdentity",
        "ops.linalg.linear_operator_zeros: LinearOperatorZeros",
    ],
    "ops.linear_operator_kinds": [
        "ops.linalg.linear_operator_diag: LinearOperatorDiag",
        "ops.linalg.linear_operator_full_matrix: LinearOperatorFullMatrix",
        "ops.linalg.linear_operator_lower_triangular: LinearOperatorLowerTriangular",
    ],
    "ops.linear_operator_structured": [
        "ops.linalg.linear_operator_circulant: LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D",
        "ops.linalg.linear_operator_householder: LinearOperatorHouseholder",
        "ops.linalg.linear_operator_kronecker: LinearOperatorKronecker",
        "ops.linalg.linear_operator_low_rank_update: LinearOperatorLowRankUpdate",
        "ops.linalg.linear_operator_permutation: LinearOperatorPermutation",
        "ops.linalg.linear_operator_toeplitz: LinearOperatorToeplitz",
        "ops.linalg.linear_operator_tridiag: LinearOperatorTridiag",
    ],
    "ops.lookup_ops": [
        "ops.lookup_ops: KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex TextFileInitializer DenseHashTable MutableHashTable"
    ],
    "ops.parsing_config": [
        "ops.parsing_config: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature"
    ],
    "ops.ragged.dynamic_shape": ["ops.ragged.dynamic_ragged_shape: DynamicRaggedShape"],
    "ops.ragged.ragged_tensor": [
        "ops.ragged.ragged_tensor: RaggedTensor",
        "ops.ragged.ragged_tensor_value: RaggedTensorValue",
    ],
    "ops.ragged.row_partition": ["ops.ragged.row_partition: RowPartition"],
    "ops.ragged.spec": ["ops.ragged.ragged_tensor: RaggedTensorSpec"],
    "ops.rng": ["ops.stateful_random_ops: Generator"],
    "ops.sparse_tensor": ["framework.sparse_tensor: SparseTensor SparseTensorSpec"],
    "ops.stateless_random_ops": ["ops.random_ops_util: Algorithm"],
    "ops.summary_ops": ["ops.summary_ops_v2: SummaryWriter NoopSummaryWriter=_NoopSummaryWriter"],
    "ops.tensor_array": ["ops.tensor_array_ops: TensorArray TensorArraySpec"],
    "ops.queue_ops": ["ops.data_flow_ops: QueueBase FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue"],
    "saved_model.options": ["saved_model.load_options: LoadOptions", "saved_model.save_options: SaveOptions"],
    "saved_model.experimental": ["saved_model.fingerprinting: Fingerprint", "saved_model.save_options: VariablePolicy"],
    "saved_model.load": ["saved_model.load: _UserObject"],
    "saved_model.signatures": ["saved_model.signature_serialization: SignatureMap=_SignatureMap"],
    "framework.test_case": ["framework.test_util: TestCase=TensorFlowTestCase"],
    "trackable.asset": ["trackable.asset: Asset"],
    "trackable.autotrackable": ["trackable.autotrackable: AutoTrackable"],
    "trackable.checkpoint": ["checkpoint.checkpoint: Checkpoint", "checkpoint.checkpoint_options: CheckpointOptions"],
    "trackable.checkpoint_files": ["util._pywrap_checkpoint_reader: CheckpointReader"],
    "trackable.checkpoint_manager": ["checkpoint.checkpoint_management: CheckpointManager"],
    "trackable.data_structures": ["trackable.data_structures: NoDependency ListWrapper _DictWrapper _TupleWrapper"],
    "trackable.module": ["module.module: Module"],
    "trackable.moving_averages": ["training.moving_averages: ExponentialMovingAverage"],
    "trackable.resource": ["trackable.resource: TrackableResource"],
    "trackable.restore": ["checkpoint.checkpoint: CheckpointLoadStatus InitializationOnlyStatus NameBasedSaverStatus"],
    "trackable.variable": [
        "ops.variables: Variable VariableAggregation VariableAggregationV2 VariableSynchronization",
        "ops.resource_variable_ops: ResourceVariable _UnreadVariable",
    ],
    "trackable.views": ["checkpoint.checkpoint_view: CheckpointView", "checkpoint.trackable_view: TrackableView"],
}

# Datasets' classes whose module is not their own name in lower case.
_DATASETS = {
    "_VariantDataset": "dataset_ops",
    "_OptionsDataset": "dataset_ops",
    "_ParallelBatchDataset": "batch_op",
    "_GeneratorDataset": "from_generator_op",
    "_SparseTensorSliceDataset": "from_sparse_tensor_slices_op",
    "_TensorSliceDataset": "from_tensor_slices_op",
    "_TensorDataset": "from_tensors_op",
    "_ParallelInterleaveDataset": "interleave_op",
    "_ParallelMapDataset": "map_op",
    "_DenseToRaggedDataset": "ragged_batch_op",
    "_DenseToSparseBatchDataset": "sparse_batch_op",
}


def classes(module):
    """[(our name, TensorFlow's module, TensorFlow's name)] of one of our modules."""
    found = []
    for line in CLASSES.get(module.removeprefix("weft._src."), ()):
        theirs, _, names = line.partition(": ")
        for name in names.split():
            ours, _, other = name.partition("=")
            found.append((ours, "tensorflow.python." + theirs, other or ours))
    return found


def rename(module):
    """Gives the classes of a loaded module TensorFlow's names."""
    for ours, theirs, name in classes(module.__name__):
        cls = getattr(module, ours)
        cls.__module__ = theirs
        if name != ours:
            cls.__name__ = name
            cls.__qualname__ = name
            for member in vars(cls).values():
                member = getattr(member, "__func__", member)
                if hasattr(member, "__code__"):  # errors of calls name the class
                    member.__qualname__ = f"{name}.{member.__name__}"


def dataset_module(name):
    """TensorFlow's module of a dataset's class."""
    import re

    own = _DATASETS.get(name)
    if own is None:
        own = re.sub(r"(?<!^)(?=[A-Z])", "_", name.strip("_").removesuffix("Dataset")).lower() + "_op"
    return "tensorflow.python.data.ops." + own
