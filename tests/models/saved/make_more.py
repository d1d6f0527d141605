"""Makes more.tar.xz: small SavedModels of many kinds with the numbers that TensorFlow computes from them.

  python make_more.py OUT_DIR [NAME ...]      (needs tensorflow-cpu)

The npz beside each holds `in_K` and `out_K` (also `out2_K`, `out3_K`: run three times), or `error`. Replayed by play.py.
"""
import os,sys
os.environ['TF_CPP_MIN_LOG_LEVEL']='3'
import numpy as np, tensorflow as tf
out=sys.argv[1]; os.makedirs(out,exist_ok=True)
P={}
def prog(**ins):
    def d(f): P[f.__name__]=(f,ins); return f
    return d
r=np.random.default_rng(1)
X=r.standard_normal((4,5)).astype('f'); I=r.integers(0,9,(6,)).astype('i')
def module(f,specs,has_state=False):
    m=tf.Module()
    return m
@prog(x=X)
def ctl_nested_while(m,x):
    s=tf.zeros([])
    for i in tf.range(3):
        j=0
        while j<4:
            if tf.reduce_sum(x[i])>0: s+=tf.cast(j,tf.float32)*x[i,j]
            else: s-=x[i,j]
            j+=1
    return {'s':s}
@prog(n=np.int32(10))
def ctl_fib_recursive_like(m,n):
    a,b=0,1
    for _ in tf.range(n): a,b=b,a+b
    return {'a':a}
@prog(x=X)
def ctl_map_fn_nested(m,x):
    return {'y':tf.map_fn(lambda r: tf.map_fn(lambda v: v*v, r), x)}
@prog(x=X)
def ctl_foldl_scan(m,x):
    return {'a':tf.foldl(lambda a,v:a+v,x),'b':tf.scan(lambda a,v:a*0.5+v,x),'c':tf.foldr(lambda a,v:a-v,x)}
@prog(i=np.int32(2),x=X)
def ctl_switch_case(m,i,x):
    return {'y':tf.switch_case(i,{0:lambda:x,1:lambda:x*2,2:lambda:tf.sin(x)},default=lambda:x-1)}
@prog(x=X)
def ctl_tensorarray_dyn(m,x):
    ta=tf.TensorArray(tf.float32,size=0,dynamic_size=True)
    for i in tf.range(4):
        if i%2==0: ta=ta.write(ta.size(),x[i])
    return {'y':ta.stack(),'c':ta.concat()}
@prog(x=X)
def grad_while(m,x):
    with tf.GradientTape() as t:
        t.watch(x); y=x
        for i in tf.range(5): y=tf.tanh(y)*1.1+tf.cast(i,tf.float32)*0.01
        l=tf.reduce_sum(y*y)
    return {'g':t.gradient(l,x)}
@prog(x=X)
def grad_second(m,x):
    with tf.GradientTape() as t2:
        t2.watch(x)
        with tf.GradientTape() as t1:
            t1.watch(x); y=tf.reduce_sum(tf.exp(tf.sin(x))*x)
        g=t1.gradient(y,x)
    return {'h':t2.gradient(g,x)}
@prog(x=X)
def grad_jac(m,x):
    with tf.GradientTape() as t:
        t.watch(x); y=tf.linalg.matmul(x,x,transpose_b=True)
    return {'j':t.jacobian(y,x)}
@prog(x=X)
def grad_batch_jac(m,x):
    with tf.GradientTape() as t:
        t.watch(x); y=tf.sin(x)*tf.reduce_sum(x,1,keepdims=True)
    return {'j':t.batch_jacobian(y,x)}
@prog(x=X,i=I)
def grad_gather_embed(m,x,i):
    with tf.GradientTape() as t:
        t.watch(x); y=tf.reduce_sum(tf.gather(x,i%4)**2)+tf.reduce_sum(tf.gather(x,[1,2],axis=1))
    return {'g':tf.convert_to_tensor(t.gradient(y,x))}
@prog(x=np.abs(r.standard_normal((2,8,8,3))).astype('f'))
def grad_conv_bn_pool(m,x):
    w=tf.reshape(tf.range(3*3*3*4,dtype=tf.float32),(3,3,3,4))*0.01
    with tf.GradientTape() as t:
        t.watch([x,w]); y=tf.nn.conv2d(x,w,2,'SAME'); y,_,_=tf.compat.v1.nn.fused_batch_norm(y,tf.ones(4),tf.zeros(4)); y=tf.nn.max_pool2d(tf.nn.relu6(y),2,2,'VALID'); y=tf.nn.avg_pool2d(y,2,1,'SAME'); l=tf.reduce_sum(y*y)
    a,b=t.gradient(l,[x,w]); return {'a':a,'b':b}
@prog(x=r.standard_normal((2,6,4)).astype('f'))
def nn_lstm_cell(m,x):
    import keras
    h=tf.zeros([2,3]);c=tf.zeros([2,3]); W=tf.reshape(tf.sin(tf.range(7*12,dtype=tf.float32)),(7,12))
    for t in tf.range(6):
        z=tf.concat([x[:,t],h],1)@W; i,j,f,o=tf.split(z,4,1); c=tf.sigmoid(f)*c+tf.sigmoid(i)*tf.tanh(j); h=tf.sigmoid(o)*tf.tanh(c)
        h.set_shape([2,3]); c.set_shape([2,3])
    return {'h':h}
@prog(x=r.standard_normal((2,5,8)).astype('f'))
def nn_attention(m,x):
    q=x*1.5;k=tf.roll(x,1,1)
    s=tf.nn.softmax(tf.einsum('bid,bjd->bij',q,k)/tf.sqrt(8.)); o=tf.einsum('bij,bjd->bid',s,x)
    mu,v=tf.nn.moments(o,-1,keepdims=True); return {'y':tf.nn.batch_normalization(o,mu,v,None,None,1e-5),'g':tf.nn.gelu(o),'s':tf.nn.silu(o)}
@prog(s=np.array([b'a b c',b'',b'hello  world foo']))
def txt_split_ngrams(m,s):
    rt=tf.strings.split(s); return {'f':rt.flat_values,'l':rt.row_lengths(),'n':tf.strings.ngrams(rt,2).flat_values,'u':tf.strings.upper(s),'len':tf.strings.length(s),'j':tf.strings.reduce_join(rt,axis=-1,separator='-')}
@prog(s=np.array([b'k1=12',b'k2=-7',b'zz']))
def txt_regex(m,s):
    return {'a':tf.strings.regex_replace(s,r'(\w+)=(-?\d+)',r'\2:\1'),'b':tf.strings.regex_full_match(s,r'k\d=.*'),'c':tf.strings.to_hash_bucket_fast(s,100),'d':tf.strings.substr(s,1,2),'e':tf.strings.join([s,s],'|')}
@prog(x=X)
def rag_ops(m,x):
    rt=tf.RaggedTensor.from_row_lengths(tf.reshape(x,[-1]),[3,0,7,10])
    return {'s':tf.reduce_sum(rt,1),'m':tf.reduce_max(rt[2:],1),'d':rt.to_tensor(-1.),'c':tf.concat([rt,rt],1).flat_values,'t':(rt*2).row_splits,'g':tf.gather(rt,[2,0]).to_tensor(),'ss':tf.sort(rt[2]),'b':tf.ragged.boolean_mask(rt,rt>0).flat_values}
@prog(x=X)
def sp_ops(m,x):
    s=tf.sparse.from_dense(tf.where(x>0,x,0.)); 
    return {'d':tf.sparse.to_dense(s),'m':tf.sparse.sparse_dense_matmul(s,tf.transpose(x)),'r':tf.sparse.reduce_sum(s,1),'t':tf.sparse.to_dense(tf.sparse.transpose(s)),'sl':tf.sparse.to_dense(tf.sparse.slice(s,[1,1],[2,3])),'sm':tf.sparse.softmax(s).values}
@prog(x=X)
def lin_ops(m,x):
    a=tf.matmul(x,x,transpose_b=True)+4*tf.eye(4)
    e,v=tf.linalg.eigh(a); return {'inv':tf.linalg.inv(a),'det':tf.linalg.det(a),'ch':tf.linalg.cholesky(a),'e':e,'s':tf.linalg.solve(a,x),'ls':tf.linalg.lstsq(a,x),'n':tf.norm(x),'tr':tf.linalg.trace(a),'sv':tf.linalg.svd(x,compute_uv=False),'ex':tf.linalg.expm(x[:,:4]*0.1),'ld':tf.linalg.logdet(a),'td':tf.linalg.tensor_diag_part(a)}
@prog(x=X)
def arr_mix(m,x):
    x=tf.ensure_shape(x,[4,5])
    return {'a':tf.pad(x,[[1,0],[0,2]],'REFLECT'),'b':tf.tile(x,[2,1]),'c':x[::2,::-1],'d':tf.reverse(x,[0]),'e':tf.stack(tf.unstack(x,axis=1)),'f':tf.where(x>0)[:,0],'g':tf.argsort(x,1,'DESCENDING'),'h':tf.math.top_k(x,2).values,'i':tf.cumsum(x,1,exclusive=True),'j':tf.one_hot([1,3],4),'k':tf.space_to_batch(x[:,:4,None,None],[2],[[0,0]]),'l':tf.boolean_mask(x,x[:,0]>0),'mm':tf.meshgrid(x[0],x[1])[0],'n':tf.searchsorted(tf.sort(x,1),x[:,:2]),'o':tf.linalg.band_part(x,1,1),'p':tf.transpose(x)[...,tf.newaxis],'q':tf.squeeze(x[:1]),'rr':tf.tensor_scatter_nd_add(x,[[0,1],[2,2]],[1.,2.]),'s':tf.unique(tf.cast(x[0]*2,tf.int32))[0],'t':tf.math.bincount([1,2,2,3]),'u':tf.repeat(x,[1,0,2,1],axis=0),'v':tf.roll(x,2,1),'w':tf.broadcast_to(x[:1],[3,5]),'x':tf.gather_nd(x,[[0,0],[3,4]]),'y':tf.clip_by_value(x,-.5,.5)}
@prog(x=X)
def num_mix(m,x):
    y=x+3.5; return {'a':tf.math.erf(x),'b':tf.math.lgamma(y),'c':tf.math.floormod(x,0.7),'d':tf.math.atan2(x,y),'e':tf.math.log1p(tf.abs(x)),'f':tf.math.softplus(x),'g':tf.round(x*3),'h':tf.math.cumulative_logsumexp(x,1),'i':tf.reduce_logsumexp(x),'j':tf.math.xlogy(tf.abs(x),y),'k':tf.cast(x*100,tf.int8),'l':tf.bitcast(x,tf.int32),'mm':tf.math.reduce_variance(x,0),'n':tf.math.zero_fraction(tf.nn.relu(x)),'o':tf.math.polyval([1.,2.,3.],x),'p':tf.cast(x,tf.bfloat16),'q':tf.cast(tf.cast(x,tf.float16),tf.float64),'r':tf.math.segment_sum(x,[0,0,1,2]),'s':tf.math.unsorted_segment_mean(x,[1,0,1,2],3),'t':tf.math.confusion_matrix([0,1,2],[0,2,2]),'u':tf.signal.rfft(x),'v':tf.math.l2_normalize(x,1)}
@prog(x=X)
def sta_counter(m,x):
    if not hasattr(m,'v'): m.v=tf.Variable(tf.zeros([4,5])); m.n=tf.Variable(0)
    m.n.assign_add(1); m.v.assign_add(x*tf.cast(m.n,tf.float32)); m.v.scatter_nd_update([[0,0]],[9.]); m.v[1,:2].assign([5.,6.])
    return {'v':m.v.read_value(),'n':m.n.read_value()}
@prog(k=np.array([b'a',b'zz',b'c']))
def sta_table(m,k):
    if not hasattr(m,'t'):
        m.t=tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a','b','c'],np.array([1,2,3],np.int64)),-1)
        m.vt=tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a','b'],np.array([0,1],np.int64)),3)
    return {'a':m.t.lookup(k),'v':m.vt.lookup(k)}
@prog(n=np.int64(7))
def data_pipeline(m,n):
    d=tf.data.Dataset.range(n).map(lambda v:v*v).filter(lambda v:v%2==0).batch(2).unbatch().padded_batch(3).flat_map(lambda b: tf.data.Dataset.from_tensor_slices(b)).take(9).skip(1).repeat(2).enumerate()
    s=tf.zeros([],tf.int64)
    for i,v in d: s=s*3+i+v
    z=tf.data.Dataset.zip((tf.data.Dataset.range(3),tf.data.Dataset.range(5,9))).interleave(lambda a,b: tf.data.Dataset.from_tensors(a*b).repeat(2),cycle_length=2)
    w=z.reduce(tf.constant(0,tf.int64),lambda a,b:a*2+b)
    return {'s':s,'w':w}
@prog(n=np.int64(20))
def data_window_shuffle(m,n):
    d=tf.data.Dataset.range(n).shuffle(8,seed=3).window(4,shift=2,drop_remainder=True).flat_map(lambda w:w.batch(4))
    acc=tf.TensorArray(tf.int64,0,True)
    for b in d: acc=acc.write(acc.size(),tf.reduce_sum(b))
    return {'a':acc.stack()}
@prog(x=r.integers(0,255,(1,6,7,3)).astype('u1'))
def img_ops(m,x):
    f=tf.image.convert_image_dtype(x,tf.float32)
    return {'r':tf.image.resize(f,[9,5]),'n':tf.image.resize(f,[3,3],'nearest'),'b':tf.image.resize(f,[8,8],'bicubic'),'g':tf.image.rgb_to_grayscale(x),'h':tf.image.adjust_hue(f,.2),'c':tf.image.central_crop(f,.5),'fl':tf.image.flip_left_right(x),'t':tf.image.transpose(x),'p':tf.image.pad_to_bounding_box(x,1,1,9,9),'s':tf.image.ssim(f,tf.sqrt(f),1.,filter_size=3),'q':tf.io.decode_png(tf.io.encode_png(x[0])),'st':tf.image.per_image_standardization(f),'so':tf.image.sobel_edges(f),'tv':tf.image.total_variation(f)}
@prog(x=X)
def rnd_stateless(m,x):
    return {'a':tf.random.stateless_normal([3],[1,2]),'b':tf.random.stateless_uniform([4],[3,4],0,10,tf.int32),'c':tf.random.experimental.stateless_shuffle(x,[5,6]),'d':tf.random.stateless_truncated_normal([3],[7,8]),'e':tf.random.stateless_categorical(x,3,[1,1]),'f':tf.random.stateless_gamma([3],[1,2],2.),'g':tf.random.stateless_poisson([3],[1,2],4.)}
@prog(x=X)
def call_nested(m,x):
    @tf.function
    def f(a,b): return a*b,a-b
    @tf.function
    def g(a): 
        p,q=f(a,a+1); return tf.reduce_sum(p),q
    s,q=g(x); return {'s':s,'q':q}
@prog(x=X)
def call_customgrad(m,x):
    @tf.custom_gradient
    def f(a):
        def back(dy): return dy*tf.cos(a)*2
        return tf.sin(a),back
    with tf.GradientTape() as t:
        t.watch(x); y=f(x)
    return {'y':y,'g':t.gradient(y,x)}
@prog(x=X)
def assert_print(m,x):
    tf.debugging.assert_greater(tf.reduce_sum(x*x),0.); tf.print('x',x,output_stream='file:///dev/null'); tf.debugging.assert_shapes([(x,(4,'n'))])
    with tf.control_dependencies([tf.debugging.assert_equal(tf.shape(x)[0],4)]): y=x*1
    return {'y':y}
@prog(b=np.array([tf.train.Example(features=tf.train.Features(feature={'a':tf.train.Feature(int64_list=tf.train.Int64List(value=[1,2])),'s':tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'q']))})).SerializeToString()]))
def io_example(m,b):
    b=tf.ensure_shape(b,[None]);p=tf.io.parse_example(b,{'a':tf.io.FixedLenFeature([2],tf.int64),'s':tf.io.VarLenFeature(tf.string),'z':tf.io.FixedLenFeature([],tf.float32,1.5),})
    return {'a':p['a'],'s':p['s'].values,'z':p['z'],'j':tf.io.encode_base64(b),'t':tf.io.parse_tensor(tf.io.serialize_tensor(p['a']),tf.int64)}
@prog(x=X)
def opt_steps(m,x):
    if not hasattr(m,'w'):
        m.w=tf.Variable(np.ones((5,2),'f')); m.mo=tf.Variable(np.zeros((5,2),'f')); m.ve=tf.Variable(np.zeros((5,2),'f')); m.it=tf.Variable(0.)
    with tf.GradientTape() as t: l=tf.reduce_mean((tf.nn.sigmoid(x@m.w)-.3)**2)
    g=t.gradient(l,m.w); m.it.assign_add(1.)
    tf.raw_ops.ResourceApplyAdam(var=m.w.handle,m=m.mo.handle,v=m.ve.handle,beta1_power=.9**m.it,beta2_power=.999**m.it,lr=.01,beta1=.9,beta2=.999,epsilon=1e-7,grad=g)
    return {'l':l,'w':m.w.read_value()}
@prog(x=X)
def err_neg_reshape(m,x): return {'y':tf.reshape(x,[tf.shape(x)[0]*3,-1])}
@prog(x=X)
def err_oob(m,x): return {'y':tf.gather(x,[tf.shape(x)[0]+2])}
@prog(x=X)
def err_check(m,x): return {'y':tf.debugging.check_numerics(tf.math.log(x-100),'bad')}
@prog(x=X)
def err_tensorlist(m,x):
    ta=tf.TensorArray(tf.float32,2)
    return {'y':ta.write(5,x[0]).stack()}
def wrap(f,mod,sp):
    names=[x.name for x in sp]
    ns={'f':f,'mod':mod}
    src='def g(%s):\n  return f(mod,%s)\n'%(','.join(names),','.join(names))
    import tempfile,importlib.util
    p=tempfile.mktemp('.py'); open(p,'w').write(src)
    spec=importlib.util.spec_from_file_location('gmod'+str(id(f)),p); mm=importlib.util.module_from_spec(spec); mm.f=f; mm.mod=mod; spec.loader.exec_module(mm)
    return tf.function(mm.g,input_signature=sp)
only=sys.argv[2:]
for name,(f,ins) in P.items():
    if only and name not in only: continue
    try:
        mod=tf.Module()
        sp=[tf.TensorSpec([None]*np.ndim(v) if np.ndim(v) else [],tf.string if np.asarray(v).dtype.kind in 'SO' else np.asarray(v).dtype,k) for k,v in ins.items()]
        mod.f=wrap(f,mod,sp)
        cf=mod.f.get_concrete_function()
        tf.saved_model.save(mod,f'{out}/{name}',signatures={'serving_default':cf})
        L=tf.saved_model.load(f'{out}/{name}'); s=L.signatures['serving_default']
        d={'in_'+k:np.asarray(v) for k,v in ins.items()}
        try:
            for pre in ('out_','out2_','out3_'):
                res=s(**{k:tf.constant(v) for k,v in ins.items()})
                for k,v in res.items():
                    v=v.numpy(); d[pre+k]=v.view('V2') if v.dtype.name=='bfloat16' else np.asarray(v.tolist(),dtype='S') if v.dtype==object else v
        except tf.errors.OpError as e: 
            d={k:v for k,v in d.items() if k.startswith('in_')}; d['error']=e.error_code
        np.savez(f'{out}/{name}.npz',**d)
    except Exception as e: print(name,'not made',type(e).__name__,str(e)[:200].replace('\n',' '))
print('made')
