// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/command_line.h"

#include <CLI/CLI.hpp>

namespace tenure::ctl
{

// ---- CommandOption ----------------------------------------------------------------------------

CommandOption CommandOption::typeName(const std::string &word) const
{
    m_option->type_name(word);
    return *this;
}

CommandOption CommandOption::required() const
{
    m_option->required();
    return *this;
}

CommandOption CommandOption::excludes(const CommandOption &other) const
{
    m_option->excludes(other.m_option);
    return *this;
}

bool CommandOption::given() const
{
    return m_option->count() > 0;
}

// ---- CommandNode ------------------------------------------------------------------------------

CommandOption CommandNode::option(const std::string &name, std::string &value, const std::string &help)
{
    return CommandOption(m_app->add_option(name, value, help));
}

CommandOption CommandNode::option(const std::string &name, std::optional<std::string> &value, const std::string &help)
{
    return CommandOption(m_app->add_option(name, value, help));
}

CommandOption CommandNode::option(const std::string &name, std::vector<std::string> &value, const std::string &help)
{
    return CommandOption(m_app->add_option(name, value, help));
}

CommandOption CommandNode::option(const std::string &name, int &value, const std::string &help)
{
    return CommandOption(m_app->add_option(name, value, help));
}

CommandOption CommandNode::option(const std::string &name, std::int64_t &value, const std::string &help)
{
    return CommandOption(m_app->add_option(name, value, help));
}

CommandOption CommandNode::option(const std::string &name, std::uint64_t &value, const std::string &help)
{
    return CommandOption(m_app->add_option(name, value, help));
}

CommandOption CommandNode::option(const std::string &name, std::optional<std::uint64_t> &value, const std::string &help)
{
    return CommandOption(m_app->add_option(name, value, help));
}

CommandOption CommandNode::flag(const std::string &name, bool &value, const std::string &help)
{
    return CommandOption(m_app->add_flag(name, value, help));
}

CommandNode CommandNode::subcommand(const std::string &name, const std::string &help)
{
    return CommandNode(m_app->add_subcommand(name, help));
}

void CommandNode::requireSubcommand()
{
    m_app->require_subcommand(1);
}

void CommandNode::footer(const std::string &text)
{
    m_app->footer(text);
}

void CommandNode::onChosen(std::function<void()> act)
{
    m_app->callback(std::move(act));
}

// ---- CommandLine ------------------------------------------------------------------------------

CommandLine::CommandLine(const std::string &description, const std::string &version, const std::string &footer)
    : m_app(std::make_unique<CLI::App>(description, "tenurectl"))
{
    m_app->set_version_flag("--version", "tenurectl " + version);
    m_app->require_subcommand(0, 1);
    m_app->footer(footer);
    m_app->get_formatter()->column_width(28);
}

CommandLine::~CommandLine() = default;

CommandNode CommandLine::root()
{
    return CommandNode(m_app.get());
}

std::optional<Exit> CommandLine::parse(int argc, char **argv)
{
    try {
        m_app->parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::Success &wanted) { // --help, --version
        return static_cast<Exit>(m_app->exit(wanted));
    } catch (const CLI::ParseError &error) {
        std::string command = "tenurectl";
        for (const CLI::App *chosen : m_app->get_subcommands())
            command += " " + chosen->get_name();
        return complainUsage(std::string(error.what()) + ". See " + command + " --help");
    }
}

} // namespace tenure::ctl
