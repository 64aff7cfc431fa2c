#: plain
eval "$x"  #> sh-eval@1
#: with a literal
eval 'echo hi'  #> sh-eval
#: of what a command prints
eval "$(ssh-agent -s)"  #> sh-eval
#: of what a command prints, with backquotes
eval `dircolors`  #> sh-eval
#: of what is fetched
eval "$(curl -fsSL https://example.org/x)"  #> sh-eval
#: through command
command eval "$x"  #> sh-eval
#: through builtin
builtin eval "$x"  #> sh-eval
#: with a backslash against aliases
\eval "$x"  #> sh-eval
#: with a backslash inside
e\val "$x"  #> sh-eval
#: quoted
"eval" "$x"  #> sh-eval
#: quoted singly
'eval' "$x"  #> sh-eval
#: quoted in part
ev"al" "$x"  #> sh-eval
#: quoted in parts of both kinds
e'v'"a"l "$x"  #> sh-eval
#: through a variable
run=eval
$run "$x"  #> sh-eval
#: through a variable in braces and quotes
run=eval
"${run}" "$x"  #> sh-eval
#: through a read-only variable
readonly RUN=eval
$RUN "$x"  #> sh-eval
#: through a local variable
f() {
  local run="eval"
  $run "$x"  #> sh-eval
}
#: through a variable of a variable
a=eval
b=$a
$b "$x"  #> sh-eval
#: through the default of a variable
${RUN:-eval} "$x"  #> sh-eval
#: in a function
f() { eval "$1"; }  #> sh-eval
#: in a function of the other form
function f { eval "$1"; }  #> sh-eval
#: in a subshell
(eval "$x")  #> sh-eval
#: in a command substitution
y=$(eval "$x")  #> sh-eval
#: in a string's substitution
echo "now $(eval "$x") done"  #> sh-eval
#: in backquotes
y=`eval $x`  #> sh-eval
#: after and
test -n "$x" && eval "$x"  #> sh-eval
#: after or
test -z "$x" || eval "$x"  #> sh-eval
#: in a condition
if eval "$x"; then :; fi  #> sh-eval
#: in a loop's head
while eval "$x"; do :; done  #> sh-eval
#: in a loop's body
for i in 1 2; do eval "$i"; done  #> sh-eval
#: in a case
case $x in
  a) eval "$y" ;;  #> sh-eval
esac
#: negated
! eval "$x"  #> sh-eval
#: in the background
eval "$x" &  #> sh-eval
#: in a pipeline
eval "$x" | cat  #> sh-eval
#: with a variable set for it
IFS=, eval "$x"  #> sh-eval
#: with a redirection
eval "$x" > /dev/null 2>&1  #> sh-eval
#: timed
time eval "$x"  #> sh-eval
#: in a process substitution
cat <(eval "$x")  #> sh-eval
#: in braces
{ eval "$x"; }  #> sh-eval
#: in a here document
cat <<EOT
$(eval "$x")
EOT
#>^^ sh-eval
#: in an arithmetic expansion
echo $(( $(eval "$x") + 1 ))  #> sh-eval
#: in an array
list=( $(eval "$x") )  #> sh-eval
#: two on a line
eval "$x"; eval "$y"  #> sh-eval sh-eval
#: in a quoted string with escapes
$'ev\x61l' "$x"  #> sh-eval
$'\u0065val' "$x"  #> sh-eval
$'\U00000065v\141l' "$x"  #> sh-eval
$'\u65val' "$x"  #> sh-eval
$'\eval' "$x"
$'ev\al' "$x"
#: in a string that may be translated
$"eval" "$x"  #> sh-eval
#: one of several in a loop
for c in echo eval; do $c "$x"; done  #> sh-eval
#: behind an unknown directory it is no builtin
"$dir/eval" "$x"
#: variables that are given each other
a=$b
b=$a
b=eval
$a "$x"  #> sh-eval
$b "$x"  #> sh-eval
#: after text that is not ASCII
echo "äöü"; eval "$x"  #> sh-eval@13
