#!/bin/sh
# Judges trace files against a suite and writes every report that a CI server can show.
#
#   judge.sh TRACES SUITE [FOLDER]
#
# FOLDER (default: toolselect-report) gets report.html, report.md, report.json and junit.xml. In a GitHub job the failures
# are annotated at their cases and the Markdown becomes the job summary. The exit code is that of `toolselect score`:
# 0 all judged runs passed, 1 some failed, 2 bad input, 3 nothing could be judged, 4 environment.
set -u
traces=${1:?usage: judge.sh TRACES SUITE [FOLDER]}
suite=${2:?usage: judge.sh TRACES SUITE [FOLDER]}
folder=${3:-toolselect-report}

mkdir -p "$folder" || exit 4
toolselect score "$traces" --suite "$suite" --format json -o "$folder/report.json"
code=$?
# 0, 1 and 3 leave a report; anything else has said what is wrong
case $code in 0 | 1 | 3) ;; *) exit "$code" ;; esac

toolselect score "$traces" --suite "$suite" --format html -o "$folder/report.html" 2>/dev/null
toolselect score "$traces" --suite "$suite" --format markdown -o "$folder/report.md" 2>/dev/null
toolselect score "$traces" --suite "$suite" --format junit -o "$folder/junit.xml" 2>/dev/null
if [ -n "${GITHUB_ACTIONS:-}" ]; then
  toolselect score "$traces" --suite "$suite" --format github 2>/dev/null
  cat "$folder/report.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
else
  toolselect score "$traces" --suite "$suite" 2>/dev/null
fi
exit "$code"
