

aPlaceholder*
dtype0

s	IdentityNa*
T
2"ª