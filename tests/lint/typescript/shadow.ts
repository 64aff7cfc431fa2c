//: parameter with a type
import { exec } from 'child_process';
function run(exec: (what: string) => void) { exec('ls'); }
//: optional parameter
import { exec } from 'child_process';
function run(exec?: Function) { exec?.('ls'); }
//: rest parameter with a type
import { exec } from 'child_process';
function run(...exec: any[]) { (exec as any)('ls'); }
//: parameter property
import * as cp from 'child_process';
class A { constructor(private cp: Tools) { cp.exec('ls'); } }
//: parameter in a typed pattern
import { exec } from 'child_process';
function run({ exec }: { exec: Function }) { exec('ls'); }
//: parameter of an arrow function with a type
import { exec } from 'child_process';
const run = (exec: any): void => exec('ls');
//: local with a type
import { exec } from 'child_process';
function run() { const exec: Function = String; exec('ls'); }
//: local function with overloads
import { exec } from 'child_process';
function run() {
  function exec(a: string): void;
  function exec(a: any): void {}
  exec('ls');
}
//: namespace of the name
namespace cp { export function exec(s: string) {} }
cp.exec('ls');
//: enumeration of the name
enum cp { exec = 1 }
const n = cp.exec;
use(n);
//: class of the name
class Function { constructor(s: string) {} }
new Function('x');
//: declared by hand
declare function exec(what: string): void;
exec('ls');
//: declared eval
declare const eval: (s: string) => void;
eval('1');
//: constant of a namespace does not reach outside
import { exec } from 'child_process';
namespace A { const exec = String; exec('a'); }
exec('b');  //> js-child-process
//: imported from elsewhere
import { exec, type Options } from './door';
exec('ls');
//: import by assignment from elsewhere
import cp = require('./child_process');
cp.exec('ls');
//: caught error
import { exec } from 'child_process';
try { f(); } catch (exec: unknown) { (exec as any)('ls'); }
//: abstract class of the name
abstract class Function {}
const f = (Function as any)('x');
//: variable of a loop
import { exec } from 'child_process';
for (const exec of list as Function[]) exec('ls');
