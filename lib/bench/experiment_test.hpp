#pragma once

#include "bench/experiment.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// \file
/// What tests of whole experiments need. For tests only.

namespace bench::testing {

/// A folder of this test that goes away with it.
class Folder
{
public:
    Folder()
    {
        auto name = (std::filesystem::temp_directory_path() / "memwall-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;

    std::string file(std::string const& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// argv for an experiment; `arguments` come after a tiny profile and the output file.
class CommandLine
{
public:
    CommandLine(std::string const& output, std::vector<std::string> arguments)
        : words_{"test", "--profile", "tiny", "--threads", "1", "--output", output}
    {
        words_.insert(words_.end(), arguments.begin(), arguments.end());
        for (auto& word : words_) {
            pointers_.push_back(word.data());
        }
        pointers_.push_back(nullptr);
    }
    int argc() const { return static_cast<int>(words_.size()); }
    char** argv() { return pointers_.data(); }

private:
    std::vector<std::string> words_;
    std::vector<char*> pointers_;
};

inline nlohmann::json read(std::string const& file)
{
    return nlohmann::json::parse(std::ifstream{file});
}

} // namespace bench::testing
