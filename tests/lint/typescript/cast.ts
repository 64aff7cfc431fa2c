//: as any
import * as cp from 'child_process';
(cp as any).exec('ls');  //> js-child-process
//: as unknown as something
import * as cp from 'child_process';
(cp as unknown as Runner).exec('ls');  //> js-child-process
//: old cast
import * as cp from 'child_process';
(<any>cp).exec('ls');  //> js-child-process
//: not null
import * as cp from 'child_process';
cp!.exec!('ls');  //> js-child-process
//: satisfies
import * as cp from 'child_process';
(cp satisfies object).exec('ls');  //> js-child-process
//: cast of the function
import { exec } from 'child_process';
(exec as Function)('ls');  //> js-child-process
//: cast of the key
import * as cp from 'child_process';
(cp as any)['exec' as string]('ls');  //> js-child-process
//: alias with a type
import * as cp from 'child_process';
const run: (what: string) => unknown = cp.exec;
run('ls');  //> js-child-process
//: alias with a cast
import * as cp from 'child_process';
const run = cp.exec as unknown as (what: string) => void;
run('ls');  //> js-child-process
//: type arguments at the call
import { execFile } from 'child_process';
execFile<string>('ls');  //> js-child-process
//: instantiation expression
import { exec } from 'child_process';
const run = exec<string>;
run('ls');  //> js-child-process
//: eval with a cast
(eval as any)('1');  //> js-eval
//: eval not null
eval!('1');  //> js-eval
//: eval with type arguments
const n = eval<number>('1');  //> js-eval
//: eval of the global object with a cast
(globalThis as any).eval('1');  //> js-eval
//: eval of the window with a cast and a key
(window as any)['eval']('1');  //> js-eval
//: indirect eval with a type
const e: (s: string) => any = eval;
e('1');  //> js-eval
//: eval in a generic function
function f<T>(s: string): T { return eval(s) as T; }  //> js-eval
//: eval in an arrow function with a type
const f = <T,>(s: string): T => eval(s);  //> js-eval
//: eval handed over
const f = wrap<string>(eval);  //> js-eval
//: new Function with a cast
const f = new Function('a', 'return a') as (a: number) => number;  //> js-function-constructor
//: new Function of a cast
const f = new (Function as any)('return 1');  //> js-function-constructor
//: Function as a call
const f: () => void = Function('return 1')();  //> js-function-constructor
//: Function with type arguments
const f = new Function<string>('return 1');  //> js-function-constructor
//: Function of a global with a cast
const f = new (globalThis as any).Function('return 1');  //> js-function-constructor
//: Function under a typed name
const F: FunctionConstructor = Function;
const f = F('return 1');  //> js-function-constructor
//: constructor of a function with a cast
const f = ((() => {}) as any).constructor('return 1');  //> js-function-constructor
//: constructor of an async function
const A = Object.getPrototypeOf(async () => {}).constructor as FunctionConstructor;
const f = new A('await 1');  //> js-function-constructor
//: constructor of a constructor with a cast
const f = ([] as any).constructor.constructor('return 1');  //> js-function-constructor
//: Function not null
const f = Function!('return 1');  //> js-function-constructor
//: Function through Reflect
const f = Reflect.construct(Function as any, ['return 1']);  //> js-function-reflect
//: a timer with text
setTimeout('run()' as any, 10);  //> js-timer-text
//: a timer with a typed template
window.setTimeout(<any>`run()`, 10);  //> js-timer-text
