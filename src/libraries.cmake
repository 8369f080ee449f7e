# Third-party libraries per folder.
function(trireme_uses layer)
  if(TARGET trireme_${layer})
    target_link_libraries(trireme_${layer} PUBLIC ${ARGN})
  endif()
endfunction()

trireme_uses(obs spdlog::spdlog nlohmann_json::nlohmann_json)
trireme_uses(config nlohmann_json::nlohmann_json)
trireme_uses(device DNNL::dnnl OpenMP::OpenMP_CXX)
if(MPI_CXX_FOUND)
  trireme_uses(comm MPI::MPI_CXX)
endif()
trireme_uses(engine OpenMP::OpenMP_CXX)
trireme_uses(io nlohmann_json::nlohmann_json PkgConfig::PCRE2 PkgConfig::ZSTD PkgConfig::XXHASH ZLIB::ZLIB
             CURL::libcurl OpenSSL::Crypto pugixml::pugixml)
trireme_uses(plan nlohmann_json::nlohmann_json)
trireme_uses(exchange nlohmann_json::nlohmann_json)
trireme_uses(train CURL::libcurl nlohmann_json::nlohmann_json)
