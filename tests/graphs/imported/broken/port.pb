

aPlaceholder*
dtype0

bNega:3*
T0"ª