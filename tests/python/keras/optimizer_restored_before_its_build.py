import tensorflow as tf
class Net(tf.keras.Model):
  def __init__(self):
    super().__init__(); self.l1 = tf.keras.layers.Dense(5)
  def call(self, x): return self.l1(x)
def step(net, opt):
  with tf.GradientTape() as tape: loss = tf.reduce_mean(tf.abs(net(tf.ones([2,1])) - 3.))
  v = net.trainable_variables; opt.apply_gradients(zip(tape.gradient(loss, v), v)); return loss
net, opt = Net(), tf.keras.optimizers.Adam(0.1)
ck = tf.train.Checkpoint(optimizer=opt, net=net)
for _ in range(2): step(net, opt)
p = ck.save('c/k')
m = tf.train.load_checkpoint(p).get_tensor('_CHECKPOINTABLE_OBJECT_GRAPH')
from tensorflow.core.protobuf import trackable_object_graph_pb2 as pb
g = pb.TrackableObjectGraph(); g.ParseFromString(m)
for i,n in enumerate(g.nodes): print(i, sorted((c.local_name,c.node_id) for c in n.children), [a.checkpoint_key for a in n.attributes], [a.full_name for a in n.attributes])
net, opt = Net(), tf.keras.optimizers.Adam(0.1)
ck = tf.train.Checkpoint(optimizer=opt, net=net)
ck.restore(p)
try: step(net, opt); print([(v.path, v.shape) for v in opt.variables])
except Exception as e: print(e)
