#!/bin/sh
# log.sh FILE COMMAND...: asks what FILE is predicted to reach, runs the command, which says what came,
# asks why, and keeps all of it in worklog.tsv, a line each: when, the file's digest, what was
# predicted and why, what came, what explains it. Without a terminal the answers come from
# PREDICT, BECAUSE and WHY.
set -eu
file=$1
shift
log=worklog.tsv

answer() { # QUESTION GIVEN
    if [ -n "$2" ]; then
        said=$2
    elif [ -t 0 ]; then
        printf '%s ' "$1" >&2
        IFS= read -r said
    else
        said=
    fi
    said=$(printf '%s' "$said" | tr '\t\r\n' '   ' | cut -c 1-500)
}

answer "How many times as fast as naive will it be?" "${PREDICT:-}"
if ! printf '%s\n' "$said" | grep -Eq '^[0-9]+([.][0-9]+)?$'; then
    echo "worklog: found '$said', expected a number such as 2.5: times as fast as naive (or PREDICT=2.5 make score)" >&2
    exit 2
fi
predicted=$said
answer "Why that much?" "${BECAUSE:-}"
because=$said
[ -n "$because" ] || { echo "worklog: expected a reason (or BECAUSE='...' make score)" >&2; exit 2; }

code=0
"$@" >build/score.said || code=$?
cat build/score.said
[ "$code" -lt 2 ] || exit "$code" # no fault of what was handed in
came=$(awk 'match($0, /[0-9.]+ times as fast as naive,/) {
    split(substr($0, RSTART, RLENGTH), word, " "); sum += log(word[1]); ++count }
    END { if (count) printf "%.2f", exp(sum / count); else print "no result" }' build/score.said)
if [ "$code" = 0 ]; then
    echo "you predicted $predicted times as fast as naive; it is $came times"
fi
answer "What explains the difference?" "${WHY:-}"
[ -s "$log" ] || printf 'when\tdigest\tpredicted\tbecause\tcame\twhy\n' >"$log"
printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%Y-%m-%dT%H:%MZ)" \
    "$(sha256sum "$file" | cut -c 1-12)" "$predicted" "$because" "$came" "$said" >>"$log"
echo "kept in $log, which you hand in beside $file"
exit "$code"
