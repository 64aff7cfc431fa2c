//: plain
eval('1 + 1');  //> js-eval@1
//: with a variable
const code = process.argv[2];
eval(code);  //> js-eval
//: indirect
(0, eval)('1');  //> js-eval
//: under another name
const run = eval;
run('1');  //> js-eval
//: of the global object
globalThis.eval('1');  //> js-eval
//: of the window
window.eval('1');  //> js-eval
//: of the global object by a literal key
window['eval']('1');  //> js-eval
//: of the global object by a key put together
self['ev' + 'al']('1');  //> js-eval
//: of the global object under another name
const g = globalThis;
g.eval('1');  //> js-eval
//: destructured from the global object
const { eval: e } = globalThis;
e('1');  //> js-eval
//: called through call
eval.call(null, '1');  //> js-eval
//: handed over
['1', '2'].map(eval);  //> js-eval
//: optional call
eval?.('1');  //> js-eval
//: through Reflect
Reflect.apply(eval, null, ['1']);  //> js-eval
//: node's global object
global.eval('1');  //> js-eval
//: the global object twice
globalThis.window.self.eval('1');  //> js-eval
//: inside a template
const text = `${eval('1')} is one`;  //> js-eval
//: inside a class
class A {
  static #b = eval('1');  //> js-eval
}
//: as the default of a parameter
function f(x = eval('1')) {}  //> js-eval
//: a timer with text
setTimeout('run()', 10);  //> js-timer-text
//: an interval with text put together
setInterval('run(' + n + ')', 10);  //> js-timer-text
//: a timer of the window with a template
window.setTimeout(`run()`, 10);  //> js-timer-text
//: put on an object
const tools = { run: eval };  //> js-eval
//: eval with an escape in its name
ev\u0061l('x');  //> js-eval
//: eval with an escape of another form
const e = \u{65}val;
e('x');  //> js-eval
//: a name with an escape that is bound here is clean
function mine(ev\u0061l) {
  return eval('x');
}
