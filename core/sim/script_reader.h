// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// The one-line verbs of scenarios and drill scripts. Shared by core/sim's own files only.
#include "core/sim/scenario.h"

#include <map>
#include <optional>

namespace tenure::sim
{

/// A word of a line and where it stands.
struct Word {
    std::string text;
    int column = 1;
};

/// Splits at blanks; "quoted words" stay one (without the quotes). `column`: of the first character.
[[nodiscard]] std::vector<Word> wordsOf(std::string_view line, int column);

/// Gathers the lines of one scenario into setups. A section is the base or one variant.
class ScriptReader
{
public:
    void read(std::string_view line, int lineNumber, int column);
    void beginVariant(const std::string &name, int line, int column);
    void problem(int line, int column, std::string what);
    /// All that can only be judged together; the runs, one a variant.
    [[nodiscard]] ParsedScenario finish(Scenario head);
    [[nodiscard]] const std::vector<Problem> &problems() const { return m_problems; }

private:
    struct Place {
        int line = 0;
        int column = 0;
    };
    /// A setup and where its parts stand.
    struct Draft {
        Setup setup;
        std::map<std::string, Place> given; ///< keys set in this section
        Place timing;
        std::vector<Place> steps;
        std::vector<std::pair<std::string, Place>> names; ///< instances that steps speak of
        std::vector<std::pair<Metric, Place>> workMetrics;
        std::vector<Card> cards;
    };
    using Words = std::vector<Word>;

    void fail(const Word &word, std::string what) { problem(m_line, word.column, std::move(what)); }
    void readSet(const Words &words);
    bool setKey(const std::string &key, const Word &value);
    void readSpawn(const Words &words);
    void readQueue(const Words &words);
    void readAt(const Words &words);
    void readCard(const Words &words, Duration at);
    void readExpect(const Words &words);
    bool readBounds(const Words &words, Expectation &expectation);
    // script_steps.cpp
    std::optional<Step> readStep(const Words &words, std::size_t first);
    bool readStepRest(Step &step, const Words &words, std::size_t first);
    bool readStoreStep(Step &step, const Words &words, std::size_t at);
    bool readCut(Step &step, const Word &word);
    void speaksOf(const Word &word, const std::string &name);
    // values
    std::optional<Duration> duration(const Word &word, std::string_view text);
    std::optional<Spread> spread(const Word &word, std::string_view text, bool *rising = nullptr);
    std::optional<std::int64_t> millionths(const Word &word, std::string_view text, std::string_view unit);
    std::optional<bool> onOff(const Word &word, std::string_view text);
    bool once(const std::string &key, const Word &word);
    void check(Draft &draft);

    Draft m_base;
    std::vector<Draft> m_variants;
    Draft *m_draft = &m_base;
    std::vector<Problem> m_problems;
    int m_line = 0;

    friend Result<Step> parseStep(std::string_view line, const Setup &setup);
};

/// Reads the YAML form into `reader` and `head`.
void readYaml(std::string_view text, ScriptReader &reader, Scenario &head);

/// Splits "key=value"; nothing without a '='.
[[nodiscard]] std::optional<std::pair<std::string, Word>> keyOf(const Word &word);

} // namespace tenure::sim
