# tools/setup.sh asks each package manager for what that calls the packages; a
# script here stands for it.
. "$ROOT/tests/support/check.sh"

mkdir bin
for program in cat cp env grep id mkdir rm sh tr; do
  ln -s "$(command -v $program)" bin/$program
done
# asks MANAGER: what it is asked where nothing but it is there.
asks() {
  cat >"bin/$1" <<'S'
#!/bin/sh
echo "asked: $*"
S
  printf '#!/bin/sh\n[ "$1" = -u ] && echo 0\n' >sh-id
  rm -f bin/id
  cp sh-id bin/id
  chmod +x "bin/$1" bin/id
  status "$1" 0 env PATH="$PWD/bin" CC=nosuchcc PYTHON=/nowhere \
    sh "$ROOT/tools/setup.sh" --if-missing
  rm "bin/$1"
}
asks apt-get
says 'apt-get: its names' out \
  'libffi-dev libreadline-dev libjansson-dev zlib1g-dev check'
asks dnf
says 'dnf: it installs' out 'asked: install -y'
says 'dnf: its names' out 'libffi-devel readline-devel jansson-devel'
asks pacman
says 'pacman: it installs' out 'asked: -S --needed'
says 'pacman: its names' out \
  'pkgconf libffi readline jansson zlib check libisl mpfr'
status 'no manager' 1 env PATH="$PWD/bin" CC=nosuchcc PYTHON=/nowhere \
  sh "$ROOT/tools/setup.sh" --if-missing
says 'no manager: what is missing' err 'no apt-get, dnf or pacman: gcc'
