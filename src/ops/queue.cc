#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void queue(Registry& r) {
  r.add("Barrier")
      .out("handle: Ref(string)")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("BarrierClose")
      .in("handle: Ref(string)")
      .attr("cancel_pending_enqueues: bool = false");

  r.add("BarrierIncompleteSize")
      .in("handle: Ref(string)")
      .out("size: int32");

  r.add("BarrierInsertMany")
      .in("handle: Ref(string)")
      .in("keys: string")
      .in("values: T")
      .attr("T: type")
      .attr("component_index: int");

  r.add("BarrierReadySize")
      .in("handle: Ref(string)")
      .out("size: int32");

  r.add("BarrierTakeMany")
      .in("handle: Ref(string)")
      .in("num_elements: int32")
      .out("indices: int64")
      .out("keys: string")
      .out("values: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("allow_small_batch: bool = false")
      .attr("wait_for_incomplete: bool = false")
      .attr("timeout_ms: int = -1");

  r.add("ConsumeMutexLock")
      .in("mutex_lock: variant")
      .stateful();

  r.add("FIFOQueueV2")
      .out("handle: resource")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MapClear")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MapIncompleteSize")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MapPeek")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MapSize")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MapStage")
      .in("key: int64")
      .in("indices: int32")
      .in("values: fake_dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("fake_dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MapUnstage")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MapUnstageNoKey")
      .in("indices: int32")
      .out("key: int64")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("MutexLock")
      .in("mutex: resource")
      .out("mutex_lock: variant")
      .full_type("MUTEX_LOCK")
      .stateful();

  r.add("MutexV2")
      .out("resource: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("OrderedMapClear")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("OrderedMapIncompleteSize")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("OrderedMapPeek")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("OrderedMapSize")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("OrderedMapStage")
      .in("key: int64")
      .in("indices: int32")
      .in("values: fake_dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("fake_dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("OrderedMapUnstage")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("OrderedMapUnstageNoKey")
      .in("indices: int32")
      .out("key: int64")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("PaddingFIFOQueueV2")
      .out("handle: resource")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("PriorityQueueV2")
      .out("handle: resource")
      .attr("component_types: list(type) >= 0 = []")
      .attr("shapes: list(shape) >= 0")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("QueueCloseV2")
      .in("handle: resource")
      .attr("cancel_pending_enqueues: bool = false")
      .stateful();

  r.add("QueueDequeueManyV2")
      .in("handle: resource")
      .in("n: int32")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful();

  r.add("QueueDequeueUpToV2")
      .in("handle: resource")
      .in("n: int32")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful();

  r.add("QueueDequeueV2")
      .in("handle: resource")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful();

  r.add("QueueEnqueueManyV2")
      .in("handle: resource")
      .in("components: Tcomponents")
      .attr("Tcomponents: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful();

  r.add("QueueEnqueueV2")
      .in("handle: resource")
      .in("components: Tcomponents")
      .attr("Tcomponents: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful();

  r.add("QueueIsClosedV2")
      .in("handle: resource")
      .out("is_closed: bool")
      .stateful();

  r.add("QueueSizeV2")
      .in("handle: resource")
      .out("size: int32")
      .stateful();

  r.add("RandomShuffleQueueV2")
      .out("handle: resource")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("min_after_dequeue: int = 0")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("ResourceAccumulatorApplyGradient")
      .in("handle: resource")
      .in("local_step: int64")
      .in("gradient: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .stateful();

  r.add("ResourceAccumulatorNumAccumulated")
      .in("handle: resource")
      .out("num_accumulated: int32")
      .stateful();

  r.add("ResourceAccumulatorSetGlobalStep")
      .in("handle: resource")
      .in("new_global_step: int64")
      .stateful();

  r.add("ResourceAccumulatorTakeGradient")
      .in("handle: resource")
      .in("num_required: int32")
      .out("average: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .stateful();

  r.add("ResourceConditionalAccumulator")
      .out("handle: resource")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("shape: shape")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
      .stateful();

  r.add("Stage")
      .in("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("StageClear")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("StagePeek")
      .in("index: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("StageSize")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("Unstage")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();
}

}  // namespace weft::ops
