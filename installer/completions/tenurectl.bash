# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion of tenurectl: commands, options, their words, and the schemes of URLs.

_tenurectl_commands="list show campaign release doctor init history metrics simulate drill run work"
_tenurectl_schemes="demo: sqlite:/// redis:// rediss:// redis+unix:/// redis+sentinel:// postgresql:// kubernetes:"
_tenurectl_queue_schemes="sqlite:/// postgresql://" # where work queues can be
_tenurectl_work="init counts list put retry"

_tenurectl_options()
{
    case $1 in
        list) echo "--filter --watch --json --times --journal --help" ;;
        show) echo "--watch --json --times --journal --help" ;;
        campaign) echo "--id --ttl --renew --renew-deadline --exit-on-loss --json --beats --help" ;;
        release) echo "--holder --token --mode --hold --reason --wait --journal --dry-run --yes --json --help" ;;
        doctor) echo "--json --help" ;;
        init) echo "--dry-run --help" ;;
        history) echo "--lease --connection --since --until --times --json --csv --report --verify --import --journal --help" ;;
        metrics) echo "--listen --filter --webhook --alertmanager --help" ;;
        run) echo "--id --ttl --renew --renew-deadline --once --every --again-after-failure --if-leader --on-lost --kill-after --verbose --help" ;;
        simulate) echo "--list --seed --seeds --log --json --help" ;;
        drill) echo "--act --times --max-gap --hold --spawn --processes --ttl --report --reason --journal --yes --json --help" ;;
        "work init") echo "--dry-run --help" ;;
        "work counts") echo "--json --help" ;;
        "work list") echo "--state --limit --after --json --help" ;;
        "work put") echo "--key --delay --max-attempts --help" ;;
        "work retry") echo "--id --all --reason --journal --help" ;;
        work*) echo "--help" ;;
        *) echo "--help --version" ;;
    esac
}

_tenurectl()
{
    # Not ${COMP_WORDS[COMP_CWORD]}: bash breaks words at the colon of a URL.
    local line=${COMP_LINE:0:COMP_POINT} word previous command schemes=$_tenurectl_schemes
    local -i at=3 # of the URL
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
    case $command in
        work)
            if ((${#words[@]} == 3)) && [[ $word != -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$_tenurectl_work" -- "$word")
                return
            fi
            command="work ${words[2]}"
            schemes=$_tenurectl_queue_schemes
            at=4
            ;;
        simulate)
            at=0
            ;;
        run)
            # Behind the mark stands a command with its own words.
            local mark
            for mark in "${words[@]:2:${#words[@]}-3}"; do
                if [[ $mark == -- ]]; then
                    local kind=-f
                    [[ $previous == -- ]] && kind=-c
                    mapfile -t COMPREPLY < <(compgen "$kind" -- "$word")
                    return
                fi
            done
            ;;
    esac
    case $previous in
        --state)
            mapfile -t COMPREPLY < <(compgen -W "pending processing completed dead" -- "$word")
            return
            ;;
        --act)
            mapfile -t COMPREPLY < <(compgen -W "ask hold clear pause crash" -- "$word")
            return
            ;;
        --times)
            [[ $command == drill ]] || mapfile -t COMPREPLY < <(compgen -W "utc local both" -- "$word")
            return
            ;;
        --report | --journal | --log)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        --every)
            mapfile -t COMPREPLY < <(compgen -W "1h 20h 24h" -- "$word")
            return
            ;;
        --mode)
            mapfile -t COMPREPLY < <(compgen -W "ask hold clear" -- "$word")
            return
            ;;
        --ttl | --renew | --renew-deadline | --hold | --wait | --kill-after | --max-gap | --delay)
            mapfile -t COMPREPLY < <(compgen -W "5s 15s 30s 1m" -- "$word")
            return
            ;;
        --filter | --id | --holder | --token | --reason | --key | --limit | --after | --max-attempts | --spawn | --seed | --seeds | --on-lost)
            return
            ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_tenurectl_options "$command")" -- "$word")
        return
    fi
    if [[ $command == simulate ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
    if ((${#words[@]} == at)); then
        mapfile -t COMPREPLY < <(compgen -W "$schemes" -- "$word")
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
