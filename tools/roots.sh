# roots.sh - processes and mounts of a root that debootstrap has made; bare.sh
# and wheel-roots.sh source it.
#
# Each root is a mount namespace and a process namespace of its own: with the
# last process, whatever ended it, all mounts and all processes are gone.

# Runs a command in namespaces of its own, with the signals of a terminal at
# their defaults: bash has them ignored in what it starts in the background.
# That is where it is, so that a signal for us is answered at once.
inside=
apart() {
  env --default-signal=INT,QUIT unshare --mount --pid --fork --kill-child \
    "$@" </dev/null &
  inside=$!
  local status=0
  wait "$inside" || status=$?
  inside=
  return "$status"
}

# Ends what apart runs.
end_inside() {
  [ "$inside" ] || return 0
  kill -KILL "$inside" 2>/dev/null || true
  wait "$inside" 2>/dev/null || true
}

# In the namespaces: /proc, the devices that every system has, and terminals
# or none; then a command in a folder of the home of somebody, who is root or
# the number of a user.
enter=$(cat <<'E'
set -e
root=$1 terminals=$2 user=$3 folder=$4
shift 4
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
  : >"$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir -p "$root/dev/pts" "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
for pair in fd stdin/0 stdout/1 stderr/2; do
  n=${pair#*/}
  [ "$n" = fd ] && n=
  ln -s "/proc/self/fd${n:+/$n}" "$root/dev/${pair%/*}"
done
if [ "$terminals" = terminals ]; then
  mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
fi
home=/root
[ "$user" = 0 ] || home=/home/somebody
# No exec: the first process of a namespace ignores what it has no handler for.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" \
  ${http_proxy:+"http_proxy=$http_proxy"} \
  ${https_proxy:+"https_proxy=$https_proxy"} \
  chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups \
  bash -c 'cd ~/"$0" && "$@"' "$folder" "$@"
E
)
