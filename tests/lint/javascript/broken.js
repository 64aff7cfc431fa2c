//: a statement that is not finished
const x = ;
eval('1');  //> js-eval
//: a function that is not closed
function f() {
  eval('1');  //> js-eval
//: rubbish on a line of its own
eval('1');  //> js-eval
@@ %%;
function f() { eval('2'); }  //> js-eval
//: empty file

//: nothing but an unclosed string
const x = 'eval(1)
