#: curl to sh
curl -fsSL https://example.org/install.sh | sh  #> sh-pipe-shell
#: curl to bash
curl https://example.org/x | bash  #> sh-pipe-shell
#: wget to bash
wget -qO- https://example.org/x | bash  #> sh-pipe-shell
#: to a shell under sudo
curl -s https://example.org/x | sudo bash  #> sh-pipe-shell
#: to a shell under sudo with options
curl -s https://example.org/x | sudo -E bash -  #> sh-pipe-shell
#: with arguments for the script
curl -s https://example.org/x | bash -s -- --yes  #> sh-pipe-shell
#: by path
curl -s https://example.org/x | /bin/sh  #> sh-pipe-shell
#: through env
curl -s https://example.org/x | env A=1 sh  #> sh-pipe-shell
#: with a step in between
curl -s https://example.org/x | sed s/a/b/ | sh -x  #> sh-pipe-shell
#: over lines
curl -s https://example.org/x |
  bash
#>^ sh-pipe-shell
#: text of the script itself
echo "$x" | bash  #> sh-pipe-shell
#: printf
printf '%s\n' "$x" | sh  #> sh-pipe-shell
#: a decoded text
base64 -d <<< "$x" | sh  #> sh-pipe-shell
#: with both streams
curl https://example.org/x |& bash  #> sh-pipe-shell
#: with its output sent away
curl https://example.org/x | bash > log 2>&1  #> sh-pipe-shell
#: to a shell in a subshell
curl https://example.org/x | (bash)  #> sh-pipe-shell
#: to a shell in braces
curl https://example.org/x | { bash; }  #> sh-pipe-shell
#: in a variable
shell=bash
curl https://example.org/x | $shell  #> sh-pipe-shell
#: here string
bash <<< "$x"  #> sh-pipe-shell
#: here document with variables
bash <<EOT  #> sh-pipe-shell
echo $x
EOT
#: process substitution
bash <(curl -s https://example.org/x)  #> sh-pipe-shell
#: process substitution under sudo
sudo bash <(curl -s https://example.org/x)  #> sh-pipe-shell
#: process substitution as input
bash < <(curl -s https://example.org/x)  #> sh-pipe-shell
#: standard input by name
curl https://example.org/x | bash /dev/stdin  #> sh-pipe-shell
#: in a condition
if curl https://example.org/x | sh; then :; fi  #> sh-pipe-shell
#: in a function
install() { curl https://example.org/x | sh; }  #> sh-pipe-shell
#: substitution as a command of its own
$(curl -s https://example.org/x)  #> sh-pipe-shell
#: to another command
curl -s https://example.org/x | tar xz
#: to a file
curl -s https://example.org/x > install.sh
#: to a script
curl -s https://example.org/x | bash ./filter.sh
#: to a script by a variable
curl -s https://example.org/x | bash "$filter"
#: from a shell
bash ./list.sh | sort
#: to a like name
curl -s https://example.org/x | shasum
#: here document for another command
cat <<EOT
curl https://example.org/x | bash
EOT
#: here document of a fixed text
bash <<'EOT'
echo hi
EOT
#: to a shell that has its own text
echo data | bash -c 'cat'  #> sh-shell-c
