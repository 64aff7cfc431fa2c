//: new
const f = new Function('a', 'return a');  //> js-function-constructor
//: without new
const f = Function('return this');  //> js-function-constructor
//: called at once
Function('return this')();  //> js-function-constructor
//: new without arguments
const f = new Function;  //> js-function-constructor
//: under another name
const Make = Function;
new Make('return 1');  //> js-function-constructor
//: of the global object
new globalThis.Function('return 1');  //> js-function-constructor
//: of the window by key
window['Function']('return 1');  //> js-function-constructor
//: in parentheses
new (Function)('return 1');  //> js-function-constructor
//: through a comma
(0, Function)('return 1')();  //> js-function-constructor
//: through apply
Function.apply(null, ['return 1']);  //> js-function-constructor
//: through Reflect
Reflect.construct(Function, ['return 1']);  //> js-function-reflect
//: constructor of a constructor
[].constructor.constructor('return 1')();  //> js-function-constructor
//: constructor of a constructor by keys
''['constructor']['constructor']('return 1')();  //> js-function-constructor
//: constructor of a function
(function () {}).constructor('return 1')();  //> js-function-constructor
//: constructor of an arrow function
(() => {}).constructor('return 1')();  //> js-function-constructor
//: constructor of an async function
const AsyncFunction = (async () => {}).constructor;
new AsyncFunction('await 1');  //> js-function-constructor
//: constructor of an async function by its prototype
const AsyncFunction = Object.getPrototypeOf(async function () {}).constructor;
new AsyncFunction('await 1');  //> js-function-constructor
//: destructured from the global object
const { Function: F } = globalThis;
new F('return 1');  //> js-function-constructor
//: by bind
const make = Function.bind(null, 'a');  //> js-function-constructor
