#include "machine/system.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cctype>

namespace machine {

std::size_t memory_bytes()
{
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::string operating_system()
{
    utsname names{};
    uname(&names);
    return fmt::format("{} {}", names.sysname, names.release);
}

std::string slug(std::string_view cpu_model, int cores, nlohmann::ordered_json const& gpus)
{
    auto text = fmt::format("{} {}c", cpu_model, cores);
    if (!gpus.empty()) {
        text += gpus.size() > 1 ? fmt::format(" {}x ", gpus.size()) : " ";
        text += gpus[0]["name"].get<std::string>();
    }
    for (std::string_view const noise :
         {"(R)", "(TM)", "(tm)", " CPU", " Processor", " processor", "NVIDIA "}) {
        for (auto at = text.find(noise); at != text.npos; at = text.find(noise)) {
            text.erase(at, noise.size());
        }
    }
    std::string name;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0) {
            name += static_cast<char>(std::tolower(byte));
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    return name.ends_with('-') ? name.substr(0, name.size() - 1) : name;
}

} // namespace machine
