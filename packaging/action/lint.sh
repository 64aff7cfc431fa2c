#!/usr/bin/env bash
# lint.sh - the second step of the action: lints, with findings as annotations of the workflow.
set -euo pipefail

case $CHOKEPOINT_LINT in
true) ;;
false) exit 0 ;;
*)
    echo "::error title=chokepoint::the input 'lint' must be 'true' or 'false'"
    exit 1
    ;;
esac
mapfile -t given <<<"$CHOKEPOINT_PATHS"
paths=()
for path in "${given[@]}"; do
    [ -z "$path" ] || paths+=("$path")
done
# The paths come after "--": one may be named like an option.
exec "$CHOKEPOINT_COMMAND" lint --format github -- "${paths[@]}"
