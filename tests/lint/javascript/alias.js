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
