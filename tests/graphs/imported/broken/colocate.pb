
 
aNoOp*
_class
	loc:@zz"ª