# Unpacks an archive of models here and plays all of them: cmake -DPROGRAM=play -DARCHIVE=models.tar.xz [-DOPTIONS=--open] -P this
execute_process(COMMAND ${CMAKE_COMMAND} -E tar xf ${ARCHIVE} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE names $ENV{PWD}/*.npz)
list(SORT names)
list(TRANSFORM names REPLACE "\\.npz$" "")
execute_process(COMMAND ${PROGRAM} models ${OPTIONS} ${names} COMMAND_ERROR_IS_FATAL ANY)
