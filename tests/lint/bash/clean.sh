#: in a string
echo "eval $x"
#: in a string of one kind
echo 'eval "$x"; bash -c "$y"'
#: in a comment
# eval "$x"; curl x | sh
#: in a comment behind a command
ls  # eval "$x"
#: in a here document
cat <<'EOT'
eval "$x"
bash -c "$y"
EOT
#: as an argument
grep eval file
man bash
#: as a longer name
evaluate "$x"
my_eval "$x"
eval_all "$x"
#: as an option
tool --eval "$x"
node -e 'x'
#: as a variable
eval=1
echo "$eval"
#: as a key of an array
declare -A a=([eval]=1)
echo "${a[eval]}"
#: in a case's pattern
case $x in
  eval|bash) echo no ;;
esac
#: in a test
[ "$x" = eval ] && echo no
[[ $x == bash ]] || echo no
#: own function of the name
eval() { :; }
eval "$x"
#: own function of the other form
function eval { :; }
eval "$x"
#: builtin goes around an own function
eval() { :; }
builtin eval "$x"  #> sh-eval
#: an own function of another name
run() { "$@"; }
run git status
#: command looks a name up
command -v eval
command -V bash
#: type and which
type eval; which bash
hash bash
#: unset and export
unset eval
export -f run
#: set of options
set -euo pipefail
#: a trap
trap 'rm -f "$tmp"' EXIT
#: a substitution that is an argument
echo "$(date)"
#: arithmetic
x=$(( eval + 1 ))
#: a loop over names
for shell in bash sh dash; do echo "$shell"; done
#: a variable that may be anything
"$cmd" "$arg"
#: a variable that the script sets to something else
run=git
$run status
#: the door
chokepoint run -- git status
#: a path whose last part is alike
./bin/eval "$x"
#: empty script

#: only a shebang
#!/bin/bash
