# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion of tenurectl: commands, options, their words, and the schemes of URLs.

_tenurectl_commands="list show campaign release doctor init history metrics run work"
_tenurectl_schemes="demo: sqlite:/// redis:// rediss:// redis+unix:/// redis+sentinel://"

_tenurectl_options()
{
    case $1 in
        list) echo "--filter --watch --json --journal --help" ;;
        show) echo "--watch --json --journal --help" ;;
        campaign) echo "--id --ttl --renew --renew-deadline --exit-on-loss --json --help" ;;
        release) echo "--holder --token --mode --hold --reason --wait --journal --dry-run --yes --json --help" ;;
        doctor) echo "--json --help" ;;
        init) echo "--dry-run --help" ;;
        history) echo "--lease --connection --since --until --json --csv --report --verify --import --journal --help" ;;
        metrics) echo "--listen --filter --webhook --alertmanager --help" ;;
        run) echo "--id --ttl --renew --renew-deadline --once --every --again-after-failure --if-leader --on-lost --kill-after --verbose --help" ;;
        work) echo "--json --state --limit --after --key --delay --max-attempts --id --all --dry-run --help" ;;
        *) echo "--help --version" ;;
    esac
}

_tenurectl()
{
    # Not ${COMP_WORDS[COMP_CWORD]}: bash breaks words at the colon of a URL.
    local line=${COMP_LINE:0:COMP_POINT} word previous command
    local -a words
    read -r -a words <<< "$line"
    [[ $line == *" " ]] && words+=("")
    word=${words[-1]}
    command=${words[1]:-}
    previous=
    ((${#words[@]} >= 3)) && previous=${words[-2]}
    COMPREPLY=()
    if ((${#words[@]} <= 2)); then
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--help --version" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -W "$_tenurectl_commands" -- "$word")
        fi
        return
    fi
    case $previous in
        --mode)
            mapfile -t COMPREPLY < <(compgen -W "ask hold clear" -- "$word")
            return
            ;;
        --ttl | --renew | --renew-deadline | --hold | --wait)
            mapfile -t COMPREPLY < <(compgen -W "5s 15s 30s 1m" -- "$word")
            return
            ;;
        --filter | --id | --holder | --token | --reason)
            return
            ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_tenurectl_options "$command")" -- "$word")
        return
    fi
    if ((${#words[@]} == 3)); then
        mapfile -t COMPREPLY < <(compgen -W "$_tenurectl_schemes" -- "$word")
        # What stands before the last colon is on the line already.
        if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
            local i typed=${word%"${word##*:}"}
            for i in "${!COMPREPLY[@]}"; do
                COMPREPLY[i]=${COMPREPLY[i]#"$typed"}
            done
        fi
        [[ ${COMPREPLY[*]} == *: || ${COMPREPLY[*]} == */ ]] && compopt -o nospace 2>/dev/null
    fi
}

complete -F _tenurectl tenurectl
