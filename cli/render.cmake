# How things look: tables in all formats, units for people, the terminal. No database, no captures.
find_package(fmt REQUIRED)
add_library(oomdb_render STATIC
  ${CMAKE_CURRENT_LIST_DIR}/table.cc
  ${CMAKE_CURRENT_LIST_DIR}/terminal.cc
  ${CMAKE_CURRENT_LIST_DIR}/units.cc
  ${CMAKE_CURRENT_LIST_DIR}/utf8.cc)
target_link_libraries(oomdb_render PUBLIC fmt::fmt)
