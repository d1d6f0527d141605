

aNoOp"/job:foo bar"ª