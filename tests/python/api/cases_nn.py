"""Calls of tf.nn: each line is run by TensorFlow (record_cases.py) and by weft (cases_test.py)."""

import numpy as np


def setup(tf):
    r = np.random.RandomState(0)

    def normal(*shape):
        return tf.constant(r.randn(*shape).astype("f"))

    return dict(
        x4=normal(2, 6, 6, 3),
        k=normal(3, 3, 3, 4),
        x3=normal(2, 7, 3),
        k1=normal(3, 3, 5),
        x5=normal(1, 4, 4, 4, 2),
        k3=normal(2, 2, 2, 2, 3),
        dk=normal(3, 3, 3, 2),
        pk=normal(1, 1, 6, 4),
        lg=normal(3, 5),
        lab=tf.constant([1, 0, 4]),
        lg3=normal(2, 3, 4),
        emb=normal(6, 2),
    )


CASES = """
tf.nn.conv2d(x4,k,1,"SAME")
tf.nn.conv2d(x4,k,[1,2,2,1],"VALID")
tf.nn.conv2d(x4,k,2,[[0,0],[1,1],[2,1],[0,0]])
tf.nn.conv2d(x4,k,1,"SAME",dilations=2)
tf.nn.conv2d(tf.reshape(x4,[1,2,6,6,3]),k,1,"SAME")
tf.nn.conv1d(x3,k1,1,"SAME")
tf.nn.conv1d(x3,k1,2,"VALID")
tf.nn.conv1d(x3,k1,1,"VALID",dilations=2)
tf.nn.conv1d(tf.reshape(x3,[1,2,7,3]),k1,1,"SAME")
tf.nn.conv3d(x5,k3,[1,1,1,1,1],"SAME")
tf.nn.convolution(x4,k,strides=2,padding="SAME")
tf.nn.convolution(x3,k1)
tf.nn.conv2d_transpose(tf.nn.conv2d(x4,k,2,"SAME"),k,[2,6,6,3],2)
tf.nn.conv1d_transpose(tf.nn.conv1d(x3,k1,2,"SAME"),k1,[2,7,3],2)
tf.nn.conv3d_transpose(tf.nn.conv3d(x5,k3,[1,2,2,2,1],"SAME"),k3,[1,4,4,4,2],[1,2,2,2,1])
tf.nn.conv_transpose(tf.nn.conv2d(x4,k,2,"SAME"),k,[2,6,6,3],2)
tf.nn.atrous_conv2d(x4,k,2,"SAME")
tf.nn.atrous_conv2d_transpose(tf.nn.atrous_conv2d(x4,k,2,"SAME"),k,[2,6,6,3],2,"SAME")
tf.nn.depthwise_conv2d(x4,dk,[1,1,1,1],"SAME")
tf.nn.depthwise_conv2d(x4,dk,[1,2,2,1],"VALID")
tf.nn.depthwise_conv2d(x4,dk,[1,1,1,1],"SAME",dilations=[2,2])
tf.nn.depthwise_conv2d(x4,dk,[1,1,1,1],"VALID",dilations=[2,1])
tf.nn.separable_conv2d(x4,dk,pk,[1,1,1,1],"SAME")
tf.nn.max_pool2d(x4,2,2,"SAME")
tf.nn.avg_pool2d(x4,[3,2],1,"VALID")
tf.nn.max_pool1d(x3,2,2,"SAME")
tf.nn.avg_pool1d(x3,2,2,"VALID")
tf.nn.max_pool3d(x5,2,2,"SAME")
tf.nn.avg_pool3d(x5,2,2,"SAME")
tf.nn.max_pool(x4,2,2,"SAME")
tf.nn.avg_pool(x3,2,1,"SAME")
tf.nn.max_pool(x4,2,2,[[0,0],[1,1],[1,1],[0,0]])
tf.nn.max_pool_with_argmax(x4,2,2,"SAME")
tf.nn.pool(x4,[2,2],"MAX",strides=[2,2],padding="SAME")
tf.nn.pool(x4,[2,2],"AVG",dilations=[2,2])
tf.nn.dilation2d(x4,tf.constant(np.ones((2,2,3),"f")),[1,1,1,1],"SAME","NHWC",[1,1,1,1])
tf.nn.erosion2d(x4,tf.constant(np.ones((2,2,3),"f")),[1,1,1,1],"SAME","NHWC",[1,1,1,1])
tf.nn.softmax(lg)
tf.nn.softmax(lg3,axis=1)
tf.nn.log_softmax(lg3,axis=0)
tf.nn.relu(lg), tf.nn.relu6(lg*9), tf.nn.elu(lg), tf.nn.selu(lg), tf.nn.leaky_relu(lg), tf.nn.leaky_relu([-1,2]), tf.nn.crelu(lg), tf.nn.gelu(lg), tf.nn.gelu(lg,True), tf.nn.silu(lg), tf.nn.swish(lg,0.5)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=lab,logits=lg)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1,0,3],[0,0,1]],logits=lg3)
tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(lab,5),logits=lg)
tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot([[1,0,3],[0,0,1]],4),logits=lg3)
tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(lg3,axis=1),logits=lg3,axis=1)
tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.nn.sigmoid(lg*2),logits=lg)
tf.nn.weighted_cross_entropy_with_logits(labels=tf.nn.sigmoid(lg*2),logits=lg,pos_weight=2.5)
tf.nn.log_poisson_loss(tf.abs(lg)*3,lg,True)
tf.nn.moments(x4,[0,1,2]), tf.nn.moments(lg,[1],keepdims=True)
tf.nn.weighted_moments(x4,[0,1],tf.abs(x4))
tf.nn.weighted_moments(lg,[0],[[1.],[2.],[3.]])
tf.nn.sufficient_statistics(lg,[0])[:3]
tf.nn.normalize_moments(3., tf.reduce_sum(lg,0), tf.reduce_sum(lg*lg,0), None)
tf.nn.batch_normalization(lg, [0.1]*5,[1.]*5,[0.5]*5,[2.]*5,1e-3)
tf.nn.batch_normalization(lg, tf.constant([0.1]*5),tf.constant([1.]*5),None,None,1e-3)
tf.nn.l2_normalize(lg,axis=1), tf.math.l2_normalize(lg)
tf.nn.l2_loss(lg), tf.nn.lrn(x4), tf.nn.bias_add(lg,[1.,2,3,4,5])
(tf.random.set_seed(3), tf.nn.dropout(lg,0.4))[1]
(tf.random.set_seed(3), tf.nn.dropout(lg,0.4,noise_shape=[3,1],seed=5))[1]
tf.nn.experimental.stateless_dropout(lg,0.4,seed=[1,2])
tf.nn.embedding_lookup(emb,[[1,2],[0,5]]), tf.nn.embedding_lookup(emb,[1,2],max_norm=0.5)
tf.nn.embedding_lookup([emb,emb+1,emb[:5]+2],[0,7,16,3,11])
tf.nn.top_k(lg,2), tf.math.in_top_k(lab,lg,2), tf.nn.in_top_k(lab,lg,1)
tf.nn.zero_fraction([0.,1.,0.]), tf.nn.space_to_depth(x4,2), tf.nn.depth_to_space(tf.nn.space_to_depth(x4,2),2)
tf.nn.compute_average_loss([1.,2.,3.],[1.,0.5,1.],4), tf.nn.scale_regularization_loss(4.)
tf.nn.isotonic_regression(lg), tf.nn.isotonic_regression(lg,decreasing=False,axis=0)
tf.nn.collapse_repeated([[1,1,2,2,1],[1,1,1,0,0]],[5,3])
tf.nn.ctc_unique_labels([[1,2,2],[3,3,3]])
tf.nn.ctc_loss([[1,2],[2,0]],tf.random.stateless_normal([5,2,4],[1,2]),[2,1],[5,4])
tf.nn.ctc_loss([[1,2],[2,0]],tf.random.stateless_normal([5,2,4],[1,2]),[2,1],[5,4],blank_index=-1)
tf.nn.ctc_loss([[1,2],[2,0]],tf.random.stateless_normal([2,5,4],[1,2]),[2,1],[5,4],logits_time_major=False)
tf.nn.ctc_loss(tf.sparse.from_dense([[1,2],[2,0]]),tf.random.stateless_normal([5,2,4],[1,2]),None,[5,4],blank_index=0)
tf.nn.ctc_greedy_decoder(tf.random.stateless_normal([5,2,4],[1,2]),[5,4])
tf.nn.ctc_beam_search_decoder(tf.random.stateless_normal([5,2,4],[1,2]),[5,4],top_paths=2)
tf.nn.embedding_lookup_sparse(emb,tf.sparse.from_dense([[1,2],[3,0]]),None)
tf.nn.embedding_lookup_sparse(emb,tf.sparse.from_dense([[1,2],[3,0]]),tf.sparse.from_dense([[1.,2],[3,0]]),"sqrtn")
tf.nn.safe_embedding_lookup_sparse(emb,tf.sparse.from_dense([[1,2],[0,0],[3,0]]))
tf.nn.safe_embedding_lookup_sparse(emb,tf.sparse.from_dense([[1,2],[0,0],[3,0]]),default_id=2,combiner="sum")
tf.nn.fractional_max_pool(x4,[1.0,1.5,1.5,1.0],seed=3)
tf.nn.softmax(lg,axis=3)
tf.nn.dropout([1,2],0.5)
tf.nn.dropout(lg,1.5)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]],logits=lg)
tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.],logits=lg)
tf.nn.conv2d(x4,k,[1,2,3],"SAME")
tf.nn.bias_add(lg,[1.,2])
(tf.random.set_seed(3), tf.nn.sampled_softmax_loss(emb, tf.zeros([6]), tf.constant([[1], [2], [3]]), tf.random.stateless_normal([3, 2], [1, 2]), 3, 6, seed=4))[1]
(tf.random.set_seed(3), tf.nn.nce_loss(emb, tf.zeros([6]), tf.constant([[1], [2], [3]]), tf.random.stateless_normal([3, 2], [1, 2]), 3, 6))[1]
"""
