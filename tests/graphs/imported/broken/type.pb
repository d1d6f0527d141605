

aPlaceholder*
dtype0

bNega*
T0"ª