//: function under a second name
const cp = require('child_process');
const run = cp.exec;
run('ls');  //> js-child-process
//: alias of an alias of an alias
const a = require('child_process');
const b = a;
const c = b.spawn;
const d = c;
d('ls');  //> js-child-process
//: alias assigned later
const cp = require('child_process');
let run;
run = cp.execSync;
run('ls');  //> js-child-process
//: one of two by a condition
const cp = require('child_process');
const run = process.platform === 'win32' ? cp.exec : cp.execFile;
run('ls');  //> js-child-process
//: a fallback
const { exec } = require('child_process');
const run = globalThis.runner || exec;
run('ls');  //> js-child-process
//: a fallback for null
const { exec } = require('child_process');
const run = globalThis.runner ?? exec;
run('ls');  //> js-child-process
//: assigned and called in one expression
const cp = require('child_process');
let run;
(run = cp.exec)('ls');  //> js-child-process
//: through a comma
const cp = require('child_process');
(0, cp.exec)('ls');  //> js-child-process
//: in parentheses
const cp = require('child_process');
((cp).exec)('ls');  //> js-child-process
//: assigned when it is not there yet
const cp = require('child_process');
let run = null;
run ??= cp.exec;
run('ls');  //> js-child-process
//: alias in an outer scope used in an inner one
const { exec } = require('child_process');
class Runner {
  go(what) {
    const attempt = () => { exec(what); };  //> js-child-process
    attempt();
  }
}
//: alias made in an inner scope
function outer() {
  const { exec } = require('child_process');
  function inner(what) {
    return exec(what);  //> js-child-process
  }
  return inner('ls');
}
//: default of a parameter
const cp = require('child_process');
function run(what, how = cp.exec) {
  how(what);  //> js-child-process
}
//: array destructuring
const cp = require('child_process');
const [run] = [cp.exec];  //> js-child-process
run('ls');
//: alias kept in a var of a block
if (process.argv.length > 2) {
  var run = require('child_process').exec;
}
run('ls');  //> js-child-process
//: destructured from the name
const cp = require('child_process');
const { exec, spawn: start } = cp;
exec('a');  //> js-child-process
start('b');  //> js-child-process
//: tagged template
const { execSync } = require('child_process');
execSync`ls`;  //> js-child-process
//: iife with the module as argument
(function (cp) {
  cp.exec('ls');
})(require('child_process'));  //> js-child-process
//: a chain of sixteen names
const { exec: a0 } = require('child_process');
const a1 = a0, a2 = a1, a3 = a2, a4 = a3, a5 = a4, a6 = a5, a7 = a6, a8 = a7;
const a9 = a8, b0 = a9, b1 = b0, b2 = b1, b3 = b2, b4 = b3, b5 = b4;
b5('ls');  //> js-child-process
//: names that are given each other
let a, b;
a = b;
b = a;
b = require('child_process').exec;
b('x');  //> js-child-process
a('y');  //> js-child-process
//: a circle of three that is asked from each side
let a = b, b = c, c = a;
c = eval;
c('x');  //> js-eval
b('y');  //> js-eval
a('z');  //> js-eval
//: a name that is given itself
let run = run || require('child_process').exec;
run('x');  //> js-child-process
//: a long chain of calls before it
$(x).a().b().c().d().e().f().g().h().i().j().k().l().m().n().o().p().q().r().s().t();
require('child_process').default.default.exec('x');  //> js-child-process
