// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/exit_code.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI
{
class App;
class Option;
}

namespace tenure::ctl
{

/// An option, flag or positional argument of a command.
class CommandOption
{
public:
    explicit CommandOption(CLI::Option *option) : m_option(option) { }
    CommandOption typeName(const std::string &word) const; ///< what --help calls its value; empty: nothing
    CommandOption required() const;
    CommandOption excludes(const CommandOption &other) const;
    [[nodiscard]] bool given() const; ///< after parsing

private:
    CLI::Option *m_option;
};

/// One command of the command line, to hang options on. Borrowed from its CommandLine. The library
/// behind it is known to command_line.cpp alone: it is costly to compile.
class CommandNode
{
public:
    explicit CommandNode(CLI::App *app) : m_app(app) { }
    // Each value must live until the command line was parsed.
    CommandOption option(const std::string &name, std::string &value, const std::string &help);
    CommandOption option(const std::string &name, std::optional<std::string> &value, const std::string &help);
    CommandOption option(const std::string &name, std::vector<std::string> &value, const std::string &help);
    CommandOption option(const std::string &name, int &value, const std::string &help);
    CommandOption option(const std::string &name, std::int64_t &value, const std::string &help);
    CommandOption option(const std::string &name, std::uint64_t &value, const std::string &help);
    CommandOption option(const std::string &name, std::optional<std::uint64_t> &value, const std::string &help);
    CommandOption flag(const std::string &name, bool &value, const std::string &help);
    CommandNode subcommand(const std::string &name, const std::string &help);
    void requireSubcommand();
    void footer(const std::string &text); ///< under --help
    void onChosen(std::function<void()> act);

private:
    CLI::App *m_app;
};

/// The whole command line.
class CommandLine
{
public:
    CommandLine(const std::string &description, const std::string &version, const std::string &footer);
    ~CommandLine();
    CommandLine(const CommandLine &) = delete;
    CommandLine &operator=(const CommandLine &) = delete;
    [[nodiscard]] CommandNode root();
    /// Nothing: go on. Else the exit code: help or the version was printed, or a complaint.
    [[nodiscard]] std::optional<Exit> parse(int argc, char **argv);

private:
    std::unique_ptr<CLI::App> m_app;
};

} // namespace tenure::ctl
