
	
cNoOp

aPlaceholder*
dtype0

bNeg^ca*
T0"ª