"""A server of the tf.data service, on TensorFlow or (by `python -m weft`) on weft. Says READY and its address, then serves until it is killed.

data_server.py dispatcher PORT [WORK_DIR]      workers are listed as localhost, twice
data_server.py worker DISPATCHER_ADDRESS PORT
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

service = tf.data.experimental.service
if sys.argv[1] == "dispatcher":
    work_dir = sys.argv[3] if len(sys.argv) > 3 else None
    config = service.DispatcherConfig(
        port=int(sys.argv[2]),
        work_dir=work_dir,
        fault_tolerant_mode=work_dir is not None,
        worker_addresses=["localhost", "localhost"],
    )
    server = service.DispatchServer(config)
else:
    config = service.WorkerConfig(dispatcher_address=sys.argv[2], port=int(sys.argv[3]), heartbeat_interval_ms=100)
    server = service.WorkerServer(config)
print("READY", server._address, flush=True)
server.join()
