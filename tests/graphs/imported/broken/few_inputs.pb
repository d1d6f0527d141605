

aPlaceholder*
dtype0

bAdda*
T0"ª