

aPlaceholder*
dtype0
 
sBatchMatrixDiaga*
T0"ª