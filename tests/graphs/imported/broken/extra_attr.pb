
'
aPlaceholder*
zz*
dtype0"ª