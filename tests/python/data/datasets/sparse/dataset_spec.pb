’)¢
ú
€SparseTensorSpec 