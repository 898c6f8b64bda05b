// SPDX-License-Identifier: GPL-3.0-or-later
// The YAML form: the same one-line verbs in named places. The only file that knows yaml-cpp, and the
// only one in which something may be thrown.
#include "core/sim/script_reader.h"

#include <yaml-cpp/yaml.h>

#include <sstream>

namespace tenure::sim
{
namespace
{

int lineOf(const YAML::Node &node) { return node.Mark().line + 1; }

/// Of the first character of a scalar's text.
int columnOf(const YAML::Node &node)
{
    return node.Mark().column + 1 + (node.Tag() == "!" ? 1 : 0);
}

class YamlReader
{
public:
    YamlReader(ScriptReader &reader, Scenario &head) : m_reader(reader), m_head(head) { }

    void read(const YAML::Node &root)
    {
        if (!root.IsMap())
            return m_reader.problem(1, 1, "A scenario is a map of name, title, teach, lease, instances, steps, expect");
        // What variants change must have been read before.
        for (const bool variants : {false, true}) {
            for (const auto &entry : root) {
                const std::string key = entry.first.Scalar();
                if ((key == "variants") == variants)
                    readKey(key, entry.first, entry.second);
            }
        }
    }

private:
    void readKey(const std::string &key, const YAML::Node &name, const YAML::Node &value)
    {
        if (key == "code")
            m_head.code = text(value);
        else if (key == "name")
            m_head.id = text(value);
        else if (key == "title")
            m_head.title = text(value);
        else if (key == "teach")
            m_head.teach = text(value);
        else if (key == "lease" || key == "network")
            line("set ", value);
        else if (key == "length")
            line("set length=", value);
        else if (key == "instances")
            lines("spawn ", value);
        else if (key == "work")
            line("queue ", value);
        else if (key == "steps")
            lines("", value);
        else if (key == "expect")
            lines("expect ", value);
        else if (key == "cards")
            lines("", value);
        else if (key == "variants")
            variants(value);
        else
            m_reader.problem(lineOf(name), columnOf(name), "There is no key \"" + key + "\"");
    }

    std::string text(const YAML::Node &value)
    {
        if (value.IsScalar())
            return value.Scalar();
        m_reader.problem(lineOf(value), columnOf(value), "A text is expected here");
        return {};
    }

    /// `prefix` is what the place says already; columns count from the text that is really there.
    void line(const std::string &prefix, const YAML::Node &value)
    {
        if (!value.IsScalar())
            return m_reader.problem(lineOf(value), columnOf(value), "One line is expected here");
        m_reader.read(prefix + value.Scalar(), lineOf(value), columnOf(value) - static_cast<int>(prefix.size()));
    }

    void lines(const std::string &prefix, const YAML::Node &value)
    {
        if (!value.IsSequence())
            return line(prefix, value);
        for (const YAML::Node &one : value)
            line(prefix, one);
    }

    void variants(const YAML::Node &all)
    {
        if (!all.IsSequence())
            return m_reader.problem(lineOf(all), columnOf(all), "Variants are a list");
        for (const YAML::Node &one : all) {
            if (!one.IsMap() || !one["name"]) {
                m_reader.problem(lineOf(one), columnOf(one), "A variant has a name, and what it changes");
                continue;
            }
            m_reader.beginVariant(text(one["name"]), lineOf(one), columnOf(one));
            for (const auto &entry : one) {
                const std::string key = entry.first.Scalar();
                if (key == "code" || key == "title" || key == "teach" || key == "variants" || key == "cards")
                    m_reader.problem(lineOf(entry.first), columnOf(entry.first), "A variant has no \"" + key + "\"");
                else if (key != "name")
                    readKey(key, entry.first, entry.second);
            }
        }
    }

    ScriptReader &m_reader;
    Scenario &m_head;
};

} // namespace

void readYaml(std::string_view text, ScriptReader &reader, Scenario &head)
{
    try {
        YamlReader(reader, head).read(YAML::Load(std::string(text)));
    } catch (const YAML::Exception &error) {
        reader.problem(error.mark.line + 1, error.mark.column + 1, "This is not YAML: " + error.msg);
    }
}

} // namespace tenure::sim
