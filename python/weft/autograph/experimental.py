"""tf.autograph.experimental."""

from weft._src.autograph.experimental import Feature, do_not_convert, set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
