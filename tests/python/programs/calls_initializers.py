"""Initializers: which types and values they take, and for which parts of a variable."""

import tensorflow as tf
from calls import tell

v1 = tf.compat.v1

tell(
    """
tf.constant_initializer(None)
tf.constant_initializer(None)([2])
tf.constant_initializer('a')([2])
v1.constant_initializer('a')([2], tf.int32)
tf.constant_initializer([1,2])([2],partition_shape=(2,))
tf.constant_initializer([1,2,3])([2])
tf.constant_initializer(3, support_partition=True)([4],partition_shape=(2,))
tf.constant_initializer({'a':1})
tf.constant_initializer(2.5)([2],dtype=tf.int32)
tf.zeros_initializer()([2],dtpye=3)
v1.glorot_uniform_initializer(dtype=tf.float64)([2,2]).dtype
v1.glorot_uniform_initializer()([2,2],dtype=tf.float64).dtype
v1.zeros_initializer(dtype=tf.string)([2])
v1.ones_initializer(dtype=tf.string)([2])
v1.random_uniform_initializer(0,5,dtype=tf.string)([2])
v1.random_uniform_initializer(dtype=tf.int32)([2])
tf.random_normal_initializer()([2],dtype=tf.string)
tf.random_uniform_initializer()([2],dtype=tf.string)
tf.random_uniform_initializer()([2],dtype=tf.int32)
v1.initializers.he_normal(dtype=tf.float64)
v1.initializers.lecun_uniform()([2,2]).dtype
v1.zeros_initializer()([2],dtype=None)
tf.constant_initializer(3, support_partition=True)([4],partition_shape=(2,),partition_offset=(0,))
tf.constant_initializer([1,2,3,4], support_partition=True)([4],partition_shape=(2,),partition_offset=(2,))
v1.random_normal_initializer(dtype=tf.string).get_config()
v1.random_normal_initializer(dtype=tf.int32).get_config()
v1.random_normal_initializer(dtype=tf.complex64).get_config()
v1.random_normal_initializer(dtype=tf.float64).get_config()
v1.random_normal_initializer(dtype=tf.bool).get_config()
v1.truncated_normal_initializer(dtype=tf.string).get_config()
v1.truncated_normal_initializer(dtype=tf.int32).get_config()
v1.truncated_normal_initializer(dtype=tf.complex64).get_config()
v1.truncated_normal_initializer(dtype=tf.float64).get_config()
v1.truncated_normal_initializer(dtype=tf.bool).get_config()
v1.random_uniform_initializer(dtype=tf.string).get_config()
v1.random_uniform_initializer(dtype=tf.int32).get_config()
v1.random_uniform_initializer(dtype=tf.complex64).get_config()
v1.random_uniform_initializer(dtype=tf.float64).get_config()
v1.random_uniform_initializer(dtype=tf.bool).get_config()
v1.uniform_unit_scaling_initializer(dtype=tf.string).get_config()
v1.uniform_unit_scaling_initializer(dtype=tf.int32).get_config()
v1.uniform_unit_scaling_initializer(dtype=tf.complex64).get_config()
v1.uniform_unit_scaling_initializer(dtype=tf.float64).get_config()
v1.uniform_unit_scaling_initializer(dtype=tf.bool).get_config()
v1.variance_scaling_initializer(dtype=tf.string).get_config()
v1.variance_scaling_initializer(dtype=tf.int32).get_config()
v1.variance_scaling_initializer(dtype=tf.complex64).get_config()
v1.variance_scaling_initializer(dtype=tf.float64).get_config()
v1.variance_scaling_initializer(dtype=tf.bool).get_config()
v1.orthogonal_initializer(dtype=tf.string).get_config()
v1.orthogonal_initializer(dtype=tf.int32).get_config()
v1.orthogonal_initializer(dtype=tf.complex64).get_config()
v1.orthogonal_initializer(dtype=tf.float64).get_config()
v1.orthogonal_initializer(dtype=tf.bool).get_config()
v1.glorot_normal_initializer(dtype=tf.string).get_config()
v1.glorot_normal_initializer(dtype=tf.int32).get_config()
v1.glorot_normal_initializer(dtype=tf.complex64).get_config()
v1.glorot_normal_initializer(dtype=tf.float64).get_config()
v1.glorot_normal_initializer(dtype=tf.bool).get_config()
v1.glorot_uniform_initializer(dtype=tf.string).get_config()
v1.glorot_uniform_initializer(dtype=tf.int32).get_config()
v1.glorot_uniform_initializer(dtype=tf.complex64).get_config()
v1.glorot_uniform_initializer(dtype=tf.float64).get_config()
v1.glorot_uniform_initializer(dtype=tf.bool).get_config()
v1.zeros_initializer(dtype=tf.string).get_config()
v1.zeros_initializer(dtype=tf.int32).get_config()
v1.zeros_initializer(dtype=tf.complex64).get_config()
v1.zeros_initializer(dtype=tf.float64).get_config()
v1.zeros_initializer(dtype=tf.bool).get_config()
v1.ones_initializer(dtype=tf.string).get_config()
v1.ones_initializer(dtype=tf.int32).get_config()
v1.ones_initializer(dtype=tf.complex64).get_config()
v1.ones_initializer(dtype=tf.float64).get_config()
v1.ones_initializer(dtype=tf.bool).get_config()
v1.constant_initializer(dtype=tf.string).get_config()
v1.constant_initializer(dtype=tf.int32).get_config()
v1.constant_initializer(dtype=tf.complex64).get_config()
v1.constant_initializer(dtype=tf.float64).get_config()
v1.constant_initializer(dtype=tf.bool).get_config()
tf.zeros_initializer()([2], layout=None).shape
tf.zeros_initializer()([4], partition_shape=[2]).shape
tf.ones_initializer()([2], layout=None).shape
tf.ones_initializer()([4], partition_shape=[2]).shape
tf.random_normal_initializer()([2], layout=None).shape
tf.random_normal_initializer()([4], partition_shape=[2]).shape
tf.random_uniform_initializer()([2], layout=None).shape
tf.random_uniform_initializer()([4], partition_shape=[2]).shape
""",
    globals(),
)
