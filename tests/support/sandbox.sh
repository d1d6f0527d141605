#!/bin/sh
# Runs one test in folders of its own, which are empty at the start and removed when it passes:
#
#     sandbox.sh FOLDER [--links SOURCE] -- COMMAND ...
#
# FOLDER/home is HOME, FOLDER/tmp is TMPDIR, FOLDER/work the working folder. With --links the working folder has links to what the
# source tree holds, for tests that name recorded files by their path in the repository; what such a test writes stays in its folder.
sandbox=$1
shift
# Archives may hold folders without write permission.
clear_sandbox() {
  [ ! -d "$sandbox" ] || chmod -R u+rwX "$sandbox" 2>/dev/null
  rm -rf "$sandbox"
}
clear_sandbox
mkdir -p "$sandbox/home" "$sandbox/tmp" "$sandbox/work" || exit 1
if [ "$1" = --links ]; then
  for entry in "$2"/*; do
    [ "${entry##*/}" = build ] || ln -s "$entry" "$sandbox/work/" || exit 1
  done
  shift 2
fi
shift
export HOME="$sandbox/home" TMPDIR="$sandbox/tmp" TMP="$sandbox/tmp" TEMP="$sandbox/tmp"
export PYTHONDONTWRITEBYTECODE=1  # beside the sources
# Settings of the caller that tests must not depend on.
unset PYTHONUNBUFFERED PYTHONWARNINGS PYTHONSTARTUP PYTHONHOME PYTHONOPTIMIZE PYTHONHASHSEED PYTHONUSERBASE
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME
unset KERAS_HOME KERAS_BACKEND TF_CPP_MIN_LOG_LEVEL
cd "$sandbox/work" || exit 1
"$@"
code=$?
[ $code != 0 ] || clear_sandbox
exit $code
