"""Where TensorFlow has each message and enum of the engine's schema: "file package: names" (facts of TensorFlow 2.21; fields are the schema's)."""

TEXT = """
tensorflow/compiler/tf2xla/tf2xla.proto tensorflow.tf2xla: Config Feed Fetch TensorId Variable
tensorflow/core/example/example.proto tensorflow: Example SequenceExample
tensorflow/core/example/feature.proto tensorflow: BytesList Feature FeatureList FeatureLists Features FloatList Int64List
tensorflow/core/framework/allocation_description.proto tensorflow: AllocationDescription
tensorflow/core/framework/api_def.proto tensorflow: ApiDef ApiDefs
tensorflow/core/framework/attr_value.proto tensorflow: AttrValue NameAttrList
tensorflow/core/framework/cost_graph.proto tensorflow: CostGraphDef
tensorflow/core/framework/device_attributes.proto tensorflow: DeviceAttributes DeviceLocality InterconnectLink LocalLinks
tensorflow/core/framework/full_type.proto tensorflow: FullTypeDef FullTypeId
tensorflow/core/framework/function.proto tensorflow: FunctionDef FunctionDefLibrary GradientDef RegisteredGradient
tensorflow/core/framework/graph.proto tensorflow: GraphDef
tensorflow/core/framework/graph_debug_info.proto tensorflow: GraphDebugInfo
tensorflow/core/framework/kernel_def.proto tensorflow: KernelDef KernelList
tensorflow/core/framework/node_def.proto tensorflow: NodeDef
tensorflow/core/framework/op_def.proto tensorflow: OpDef OpDeprecation OpList
tensorflow/core/framework/optimized_function_graph.proto tensorflow: OptimizedFunctionGraph
tensorflow/core/framework/reader_base.proto tensorflow: ReaderBaseState
tensorflow/core/framework/resource_handle.proto tensorflow: ResourceHandleProto
tensorflow/core/framework/step_stats.proto tensorflow: AllocationRecord AllocatorMemoryUsed DeviceStepStats MemoryStats NodeExecStats NodeOutput
tensorflow/core/framework/step_stats.proto tensorflow: StepStats
tensorflow/core/framework/summary.proto tensorflow: Summary SummaryDescription SummaryMetadata DataClass
tensorflow/core/framework/tensor.proto tensorflow: TensorProto VariantTensorDataProto
tensorflow/core/framework/tensor_description.proto tensorflow: TensorDescription
tensorflow/core/framework/tensor_shape.proto tensorflow: TensorShapeProto
tensorflow/core/framework/tensor_slice.proto tensorflow: TensorSliceProto
tensorflow/core/framework/types.proto tensorflow: SerializedDType DataType
tensorflow/core/framework/variable.proto tensorflow: SaveSliceInfoDef VariableDef VariableAggregation VariableSynchronization
tensorflow/core/framework/versions.proto tensorflow: VersionDef
tensorflow/core/protobuf/cluster.proto tensorflow: ClusterDef JobDef
tensorflow/core/protobuf/composite_tensor_variant.proto tensorflow: CompositeTensorVariantMetadata
tensorflow/core/protobuf/config.proto tensorflow: CallableOptions ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions
tensorflow/core/protobuf/config.proto tensorflow: SessionMetadata TensorConnection ThreadPoolOptionProto
tensorflow/core/protobuf/control_flow.proto tensorflow: CondContextDef ControlFlowContextDef ValuesDef WhileContextDef
tensorflow/core/protobuf/debug.proto tensorflow: DebugOptions DebugTensorWatch
tensorflow/core/protobuf/device_filters.proto tensorflow: ClusterDeviceFilters JobDeviceFilters TaskDeviceFilters
tensorflow/core/protobuf/device_properties.proto tensorflow: DeviceProperties NamedDevice
tensorflow/core/protobuf/fingerprint.proto tensorflow: FingerprintDef
tensorflow/core/protobuf/meta_graph.proto tensorflow: AssetFileDef CollectionDef MetaGraphDef SignatureDef TensorInfo
tensorflow/core/protobuf/named_tensor.proto tensorflow: NamedTensorProto
tensorflow/core/protobuf/queue_runner.proto tensorflow: QueueRunnerDef
tensorflow/core/protobuf/rewriter_config.proto tensorflow: AutoParallelOptions RewriterConfig ScopedAllocatorOptions
tensorflow/core/protobuf/saved_model.proto tensorflow: SavedModel
tensorflow/core/protobuf/saved_object_graph.proto tensorflow: CapturedTensor FunctionSpec SaveableObject SavedAsset SavedBareConcreteFunction
tensorflow/core/protobuf/saved_object_graph.proto tensorflow: SavedConcreteFunction SavedConstant SavedFunction SavedObject SavedObjectGraph
tensorflow/core/protobuf/saved_object_graph.proto tensorflow: SavedResource SavedUserObject SavedVariable
tensorflow/core/protobuf/saver.proto tensorflow: SaverDef
tensorflow/core/protobuf/struct.proto tensorflow: BoundedTensorSpecProto DictValue ListValue NamedTupleValue NoneValue PairValue StructuredValue
tensorflow/core/protobuf/struct.proto tensorflow: TensorSpecProto TupleValue TypeSpecProto
tensorflow/core/protobuf/tensor_bundle.proto tensorflow: BundleEntryProto BundleHeaderProto
tensorflow/core/protobuf/tensorflow_server.proto tensorflow: ServerDef
tensorflow/core/protobuf/trackable_object_graph.proto tensorflow: RegisteredSaver TrackableObjectGraph
tensorflow/core/protobuf/verifier_config.proto tensorflow: VerifierConfig
tensorflow/core/util/event.proto tensorflow: Event LogMessage SessionLog SourceMetadata TaggedRunMetadata
tensorflow/core/util/memmapped_file_system.proto tensorflow: MemmappedFileSystemDirectory MemmappedFileSystemDirectoryElement
tensorflow/core/util/saved_tensor_slice.proto tensorflow: SavedSlice SavedSliceMeta SavedTensorSliceMeta SavedTensorSlices
tensorflow/python/training/checkpoint_state.proto tensorflow: CheckpointState
xla/tsl/protobuf/coordination_config.proto tensorflow: CoordinatedJob CoordinationServiceConfig
xla/tsl/protobuf/error_codes.proto tensorflow.error: Code
xla/tsl/protobuf/histogram.proto tensorflow: HistogramProto
xla/tsl/protobuf/rpc_options.proto tensorflow: RPCOptions
"""
# Files of the older syntax: their scalar fields know whether they were set.
PROTO2 = {"tensorflow/core/framework/graph_debug_info.proto"}
