#: variable
source "$file"  #> sh-source-variable
#: variable in the path
source "$dir/lib.sh"  #> sh-source-variable
#: with a dot
. "$file"  #> sh-source-variable
#: dot without quotes
. $file  #> sh-source-variable
#: variable in braces with a default
. "${LIB:-/usr/lib}/x.sh"  #> sh-source-variable
#: first argument of the script
source "$1"  #> sh-source-variable
#: what a command prints
source "$(find . -name x.sh)"  #> sh-source-variable
#: directory of the script by a command
source "$(dirname "$0")/lib.sh"  #> sh-source-variable
#: what is fetched
source <(curl -fsSL https://example.org/x)  #> sh-source-variable
#: dot and what is fetched
. <(wget -qO- https://example.org/x)  #> sh-source-variable
#: from standard input
curl -s https://example.org/x | source /dev/stdin  #> sh-source-variable
#: from a descriptor
source /dev/fd/3  #> sh-source-variable
#: through command
command . "$file"  #> sh-source-variable
#: through builtin
builtin source "$file"  #> sh-source-variable
#: quoted
"source" "$file"  #> sh-source-variable
#: a pattern
source ./conf.d/*.sh  #> sh-source-variable
#: in a loop
for f in /etc/profile.d/*.sh; do
  . "$f"  #> sh-source-variable
done
#: after a test
[ -f "$rc" ] && . "$rc"  #> sh-source-variable
#: home by a tilde is a variable too
source ~/lib.sh  #> sh-source-variable
#: a literal path
source ./lib.sh
#: a literal path in quotes
. "/etc/os-release"
#: a literal path with arguments that are variable
. ./lib.sh "$x"
#: a variable that the script sets once to a literal
lib=/usr/lib/x.sh
. "$lib"
#: a path of literal parts
readonly PREFIX=/usr
source "$PREFIX/lib/x.sh"
#: a variable that is set twice to different things
lib=/usr/lib/x.sh
lib=$1
. "$lib"  #> sh-source-variable
#: own function of the name
source() { cat "$1"; }
source "$file"
