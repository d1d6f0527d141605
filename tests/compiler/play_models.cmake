# Unpacks an archive of models and plays all of them: cmake -DPROGRAM=play_models -DARCHIVE=models.tar.xz -DWORK=folder [-DOPTIONS=--open] -P this
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} -E tar xf ${ARCHIVE} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE names ${WORK}/*.npz)
list(SORT names)
list(TRANSFORM names REPLACE "\\.npz$" "")
execute_process(COMMAND ${PROGRAM} ${OPTIONS} ${names} COMMAND_ERROR_IS_FATAL ANY)
