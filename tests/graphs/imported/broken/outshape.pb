
J
aPlaceholder*
shape:*
_output_shapes
:*
dtype0"ª