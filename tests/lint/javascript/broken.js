//: unclosed brace before a call
function f( {
eval('1');  //> js-eval
//: rubbish between two calls
eval('1');  //> js-eval
)]} @@ %%
eval('2');  //> js-eval
//: empty file

//: nothing but an unclosed string
const x = 'eval(1)
