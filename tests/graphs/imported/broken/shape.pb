
.
aPlaceholder*
shape:*
dtype0

bMatMulaa*
T0"ª