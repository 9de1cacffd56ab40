#!/bin/sh
# Searches for paths on which an algorithm breaks a property. Fails if a counterexample needs parts that no known one needs, or if a mended one is
# broken again.
#
#     falsify.sh ALGORITHM PROPERTY DIRECTORY [OPTION…]
#
# DIRECTORY/known has the counterexamples that are known, DIRECTORY/mended those that must stay mended. DIRECTORY/corpus has the outcomes of all
# nights, from which the search continues. DIRECTORY/found has the new counterexamples. OPTION… are those of `cwnd falsify`, such as `--minutes 10`.
# The variable CWND names the program, such as one with a stack of your own.
set -eu
algorithm=$1 property=$2 directory=$3
shift 3
cwnd=${CWND:-cwnd}
rm -rf "$directory/found"
mkdir -p "$directory"
failed=0

"$cwnd" falsify "$algorithm" --property "$property" --answers 20 --corpus "$directory/corpus" --out "$directory/found" "$@"
for file in "$directory"/found/*/counterexample.toml; do
    if [ -e "$file" ]; then
        needs=$(grep -m 1 '^# needs: ' "$file")
        if grep -qsxF -- "$needs" "$directory"/known/*.toml; then
            rm -r "$(dirname "$file")"
        else
            echo "new: $file ($needs)" >&2
            failed=1
        fi
    fi
done

set -- "$directory"/mended/*.toml
if [ -e "$1" ]; then
    "$cwnd" falsify --regress "$@" --junit "$directory/junit.xml" || failed=1
fi
exit "$failed"
