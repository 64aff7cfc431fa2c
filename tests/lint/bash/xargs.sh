#: xargs sh
ls | xargs sh  #> sh-xargs-shell
#: xargs sh -c
ls | xargs sh -c 'echo $0'  #> sh-xargs-shell
#: with a replacement
ls | xargs -I{} sh -c 'echo {}'  #> sh-xargs-shell
#: with a replacement as a word of its own
ls | xargs -I % bash -c 'echo %'  #> sh-xargs-shell
#: with several options
find . -print0 | xargs -0 -n 1 -P 4 bash -c 'echo "$1"' _  #> sh-xargs-shell
#: by path
ls | xargs /bin/sh -c 'echo $0'  #> sh-xargs-shell
#: through env
ls | xargs env A=1 sh -c 'echo $0'  #> sh-xargs-shell
#: long options
ls | xargs --max-args=1 --null bash -c 'x'  #> sh-xargs-shell
#: with input from a file
xargs -a list sh -c 'x'  #> sh-xargs-shell
#: under sudo
ls | sudo xargs sh -c 'x'  #> sh-xargs-shell
#: find -exec
find . -name '*.x' -exec sh -c 'x "$1"' _ {} \;  #> sh-xargs-shell
#: find -execdir
find . -execdir bash -c 'x {}' ';'  #> sh-xargs-shell
#: find -exec with plus
find . -exec sh -c 'for f; do x; done' _ {} +  #> sh-xargs-shell
#: find with two
find . -exec grep -q x {} \; -exec sh -c 'x' \;  #> sh-xargs-shell
#: parallel
ls | parallel bash -c 'x'  #> sh-xargs-shell
#: eval by xargs is no builtin of it, yet a shell's by bash
ls | xargs -I{} bash -c "eval {}"  #> sh-xargs-shell
#: xargs of another command
ls | xargs rm -f
#: xargs of a command with an argument named as a shell
ls | xargs grep sh -c
#: xargs alone
ls | xargs
#: find of another command
find . -exec grep -c x {} +
#: find by name
find . -name sh -type f
