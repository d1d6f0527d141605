"""Keras models as functions. tf2onnx."""


def trace_model_call(model, input_signature=None):
    """A tf.function of a model's call at inference, whose outputs have the model's names for them."""
    from weft._src.framework import nest
    from weft._src.function.function import function

    specs = model._get_save_spec(dynamic_batch=False) if input_signature is None else input_signature
    specs = tuple(specs) if isinstance(specs, (list, tuple)) else (specs,)

    @function(input_signature=specs)
    def _wrapped_model(*args):
        return dict(zip(model.output_names, nest.flatten(model(*args))))

    return _wrapped_model
