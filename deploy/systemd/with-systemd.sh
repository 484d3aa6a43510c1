# Functions for bash and zsh that run the processes of docs/deploying.md with the units of this folder. They need the
# variables CONF and VAULT of that page, and root privileges.

# start NAME...: starts each process now, and again when the machine starts
start() {
  chown -R tokenferry: "$CONF" "$VAULT"
  for name in "$@"; do
    systemctl enable --now "tokenferry-$name" && echo "$name is running"
  done
}

# stop NAME...: stops each process and waits until it has ended
stop() {
  for name in "$@"; do
    systemctl disable --now "tokenferry-$name" && echo "$name has stopped"
  done
}

# logs NAME: prints the log of a process
logs() { journalctl --output cat --unit "tokenferry-$1"; }
