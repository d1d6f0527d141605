"""Messages of one field: more values than a single field has room for are all written."""
import tensorflow as tf
raw=tf.raw_ops
def call(f):
    try: r=f(); return r.numpy()
    except Exception as e: return type(e).__name__+" "+str(getattr(e,"message",e)).split("}} ",1)[-1].split(" [Op:")[0][:200]
for sizes,vals in (([[1]],[[5]]),([[2]],[[5,6]]),([[0]],[[5]]),([[3]],[[5,6,7]])):
    print(sizes, call(lambda: raw.EncodeProto(sizes=sizes, values=[tf.constant(vals,tf.int64)], field_names=["step"], message_type="tensorflow.Event", descriptor_source="local://")))
