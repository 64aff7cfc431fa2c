#: bash
bash -c "$x"  #> sh-shell-c@1
#: sh with a literal
sh -c 'echo hi'  #> sh-shell-c
#: by path
/bin/sh -c "$x"  #> sh-shell-c
#: by path of another
/usr/bin/bash -c "$x"  #> sh-shell-c
#: dash
dash -c "$x"  #> sh-shell-c
#: zsh
zsh -c "$x"  #> sh-shell-c
#: ksh
ksh -c "$x"  #> sh-shell-c
#: busybox
busybox sh -c "$x"  #> sh-shell-c
#: other options before
bash --norc -c "$x"  #> sh-shell-c
#: joined options
bash -ec "$x"  #> sh-shell-c
#: joined options for a login shell
bash -lc "$x"  #> sh-shell-c
#: options with arguments before
bash -o pipefail -c "$x"  #> sh-shell-c
#: through env
env bash -c "$x"  #> sh-shell-c
#: through env with variables
env A=1 B="$y" bash -c "$x"  #> sh-shell-c
#: through env with options
env -i -u HOME bash -c "$x"  #> sh-shell-c
#: env by path
/usr/bin/env sh -c "$x"  #> sh-shell-c
#: through sudo
sudo sh -c "$x"  #> sh-shell-c
#: through sudo with options
sudo -u root -E bash -c "$x"  #> sh-shell-c
#: through exec
exec bash -c "$x"  #> sh-shell-c
#: through exec with a name
exec -a name bash -c "$x"  #> sh-shell-c
#: through command
command sh -c "$x"  #> sh-shell-c
#: through nohup
nohup sh -c "$x" &  #> sh-shell-c
#: through timeout
timeout 5 sh -c "$x"  #> sh-shell-c
#: through timeout with options
timeout -k 1 --signal=KILL 5s sh -c "$x"  #> sh-shell-c
#: through nice
nice -n 10 sh -c "$x"  #> sh-shell-c
#: through several
sudo env A=1 timeout 5 nice sh -c "$x"  #> sh-shell-c
#: through setsid
setsid bash -c "$x"  #> sh-shell-c
#: through time
time bash -c "$x"  #> sh-shell-c
#: through stdbuf
stdbuf -oL bash -c "$x"  #> sh-shell-c
#: with a backslash
\bash -c "$x"  #> sh-shell-c
#: quoted
"bash" -c "$x"  #> sh-shell-c
#: option quoted
bash "-c" "$x"  #> sh-shell-c
#: through the variable SHELL
"$SHELL" -c "$x"  #> sh-shell-c
#: through the variable SHELL with a default
${SHELL:-/bin/sh} -c "$x"  #> sh-shell-c
#: through the variable BASH
$BASH -c "$x"  #> sh-shell-c
#: through a variable of the script
shell=/bin/bash
"$shell" -c "$x"  #> sh-shell-c
#: option in a variable
opt=-c
bash $opt "$x"  #> sh-shell-c
#: with a variable set for it
A=1 bash -c "$x"  #> sh-shell-c
#: su
su - user -c "$x"  #> sh-shell-c
#: runuser
runuser -u user -- sh -c "$x"  #> sh-shell-c
#: in a substitution
y=$(bash -c "$x")  #> sh-shell-c
#: in a function
f() { bash -c "$*"; }  #> sh-shell-c
#: over lines
bash \
  -c "$x"
#>^^ sh-shell-c
#: a script by name
bash ./script.sh
#: a script with an option of its own
bash ./script.sh -c config
#: after the end of the options
bash -- -c
#: the syntax is checked
bash -n script.sh
#: the version
bash --version
#: an option of another command
tar -c x
gcc -c x.c
grep -c x y
#: through sudo another command
sudo -u bash tar -c x
#: a file named as the shell
cat bash -c
#: own function of the name
sh() { echo "$@"; }
sh -c x
#: behind an unknown directory
"$PREFIX/bin/bash" -c "$x"  #> sh-shell-c
#: through one of two shells
if x; then s=bash; else s=zsh; fi
"$s" -c "$x"  #> sh-shell-c
#: a line for flock
flock lock -c "$x"  #> sh-shell-c
#: a command for flock
flock lock sort x
#: a line for script
script -q -c "$x" log  #> sh-shell-c
