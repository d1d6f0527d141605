

a bPlaceholder*
dtype0"ª