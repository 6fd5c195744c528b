# Installs the manual and the completion of shells, which the program prints. "lathe" is the program,
# "share" the folder of data under the prefix.
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${share}")
message(STATUS "Installing: ${folder}/man/man1/lathe.1 and one page for each verb")
execute_process(COMMAND ${lathe} man -o ${folder}/man/man1 COMMAND_ERROR_IS_FATAL ANY)

function(install_completion shell path)
  message(STATUS "Installing: ${folder}/${path}")
  execute_process(COMMAND ${lathe} completion ${shell} OUTPUT_VARIABLE script
    COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${folder}/${path}" "${script}")
endfunction()

install_completion(bash bash-completion/completions/lathe)
install_completion(zsh zsh/site-functions/_lathe)
install_completion(fish fish/vendor_completions.d/lathe.fish)
