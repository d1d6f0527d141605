
	
aNoOp
	
aNoOp"ª