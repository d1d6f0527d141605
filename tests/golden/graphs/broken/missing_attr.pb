

aPlaceholder"ª