

aPlaceholder*
dtype"ª