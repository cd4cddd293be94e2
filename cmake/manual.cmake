# Included by the root CMakeLists.txt: manual pages and completions of shells, which the program writes from its tables of
# commands and options.

set(talus_manual_dir ${PROJECT_BINARY_DIR}/manual)
set(talus_completion_dir ${PROJECT_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${talus_completion_dir})
add_custom_command(OUTPUT ${talus_manual_dir}/talus.1
  COMMAND talus help --man ${talus_manual_dir}
  COMMAND talus help --completion bash > ${talus_completion_dir}/talus
  COMMAND talus help --completion zsh > ${talus_completion_dir}/_talus
  COMMAND talus help --completion fish > ${talus_completion_dir}/talus.fish
  DEPENDS talus
  COMMENT "Manual pages and completions"
  VERBATIM)
add_custom_target(talus_manual ALL DEPENDS ${talus_manual_dir}/talus.1)

# OPTIONAL: a build of the library alone is installed without them.
install(DIRECTORY ${talus_manual_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${talus_completion_dir}/talus DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(FILES ${talus_completion_dir}/_talus DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(FILES ${talus_completion_dir}/talus.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
