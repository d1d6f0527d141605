
	
cNoOp

bNoOp^c^c"ª