# Functions for bash and zsh that run the processes of docs/deploying.md without systemd, for a trial. They need the
# variables CONF and FOLDER of that page.

# start NAME...: starts each process in the background, with its log in $FOLDER
start() {
  for name in "$@"; do
    (
      umask 077
      set -a
      . "$CONF/$name.env"
      set +a
      case $name in
      worker@*) eval "set -- worker/main.js" ;;
      company-data) eval "set -- stack/processes/service.js $SERVICE_OPTIONS" ;;
      codec-server) eval "set -- stack/processes/codec-server.js $CODEC_OPTIONS" ;;
      portal) eval "set -- stack/processes/portal.js $PORTAL_OPTIONS" ;;
      esac
      program=$1
      shift
      nohup node "$TOKENFERRY_APP/dist/$program" "$@" >>"$FOLDER/$name.log" 2>&1 &
      echo $! >"$FOLDER/$name.pid"
    )
  done
  sleep 5
  for name in "$@"; do
    if kill -0 "$(cat "$FOLDER/$name.pid")" 2>/dev/null; then
      echo "$name is running as process $(cat "$FOLDER/$name.pid")"
    else
      echo "$name has ended; to see why, run: logs $name" >&2
    fi
  done
}

# stop NAME...: stops each process and waits until it has ended
stop() {
  for name in "$@"; do
    kill "$(cat "$FOLDER/$name.pid")" || continue
    while kill -0 "$(cat "$FOLDER/$name.pid")" 2>/dev/null; do sleep 0.2; done
    echo "$name has stopped"
  done
}

# logs NAME: prints the log of a process
logs() { cat "$FOLDER/$1.log"; }
