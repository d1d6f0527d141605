

aPlaceholder*
dtype0

bNegaa*
T0"ª