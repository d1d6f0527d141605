#!/bin/sh
# Runs one test in folders of its own, which are empty at the start and removed when it passes:
#
#     room.sh FOLDER [--links SOURCE] -- COMMAND ...
#
# FOLDER/home is HOME, FOLDER/tmp is TMPDIR, FOLDER/work the working folder. With --links the working folder has links to what the
# source tree holds, for tests that name recorded files by their path in the repository; what such a test writes stays in its folder.
room=$1
shift
# Archives may hold folders that nobody may write to.
clear_room() {
  [ ! -d "$room" ] || chmod -R u+rwX "$room" 2>/dev/null
  rm -rf "$room"
}
clear_room
mkdir -p "$room/home" "$room/tmp" "$room/work" || exit 1
if [ "$1" = --links ]; then
  for entry in "$2"/*; do
    [ "${entry##*/}" = build ] || ln -s "$entry" "$room/work/" || exit 1
  done
  shift 2
fi
shift
export HOME="$room/home" TMPDIR="$room/tmp" TMP="$room/tmp" TEMP="$room/tmp"
export PYTHONDONTWRITEBYTECODE=1  # beside the sources
unset PYTHONUNBUFFERED PYTHONWARNINGS PYTHONSTARTUP  # a caller's own, which tests must not need
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME
cd "$room/work" || exit 1
"$@"
code=$?
[ $code != 0 ] || clear_room
exit $code
