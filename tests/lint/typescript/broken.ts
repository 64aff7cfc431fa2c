//: a type that is not finished
type T = ;
eval('1');  //> js-eval
//: a class that is not closed
class A {
  run(): void { eval('1'); }  //> js-eval
//: rubbish on a line of its own
eval('1');  //> js-eval
@@ %%;
function f(): void { eval('2'); }  //> js-eval
