

aPlaceholder*
dtype0

sAssignaa*
T0"ª