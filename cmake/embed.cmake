# oomdb_embed(TARGET OUTPUT FUNCTION BASE files...): compiles text files into TARGET.
#
# Generates OUTPUT in the build folder, which defines
#   std::span<const oomdb::EmbeddedFile> oomdb::ROOM::FUNCTION();   (base/embedded.h)
# where ROOM is the folder that calls it, with one entry per file, sorted by its path relative to BASE.
# It is made anew when a file changes; call it with a glob that has CONFIGURE_DEPENDS, and a new file
# needs nothing else.
set(OOMDB_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)

function(oomdb_embed target output function base)
  set(files ${ARGN})
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  list(SORT files)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${output})
  # The list travels in a file: a command line has a limit, and a `;` in it would need quoting.
  set(list_file ${generated}.list)
  string(REPLACE ";" "\n" lines "${files}")
  file(GENERATE OUTPUT ${list_file} CONTENT "${lines}\n")
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DLIST=${list_file} -DOUTPUT=${generated} -DFUNCTION=${function}
            -DBASE=${base} -DROOM=${room} -P ${OOMDB_EMBED_SCRIPT}
    DEPENDS ${files} ${list_file} ${OOMDB_EMBED_SCRIPT}
    COMMENT "Embedding the files of ${function}"
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
