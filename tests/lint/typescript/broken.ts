//: unclosed type
type T = { a:
eval('1');  //> js-eval
//: rubbish between
eval('1');  //> js-eval
)]} @@ %%
eval('2');  //> js-eval
