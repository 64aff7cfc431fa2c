#: unclosed if
if true; then
  eval "$x"  #> sh-eval
#: unclosed quote
echo "eval $x
#: stray done
eval "$x"  #> sh-eval
done
