//: parameter of the same name
const { exec } = require('child_process');
function run(exec) {
  exec('ls');
}
//: parameter of an arrow function
const { exec } = require('child_process');
const run = exec => exec('ls');
//: parameter in a pattern
const { exec } = require('child_process');
function run({ exec }) { exec('ls'); }
//: rest parameter
const { exec } = require('child_process');
function run(...exec) { exec('ls'); }
//: parameter in an array pattern
const { exec } = require('child_process');
const run = ([exec]) => exec('ls');
//: parameter with a default
const { exec } = require('child_process');
const run = (exec = String) => exec('ls');
//: local constant
const { exec } = require('child_process');
function run() {
  const exec = () => 1;
  return exec('ls');
}
//: local function, hoisted
const { exec } = require('child_process');
function run() {
  return exec('ls');
  function exec() { return 1; }
}
//: local var, hoisted from a block
const { exec } = require('child_process');
function run() {
  if (Math.random() > 2) {
    var exec = String;
  }
  return exec('ls');
}
//: constant of a block does not reach outside of it
const { exec } = require('child_process');
{
  const exec = String;
  exec('a');
}
exec('b');  //> js-child-process
//: caught error
const { exec } = require('child_process');
try { f(); } catch (exec) { exec('ls'); }
//: variable of a loop
const { exec } = require('child_process');
for (const exec of [String]) exec('ls');
//: variable of a classic loop
const { exec } = require('child_process');
for (let exec = String; ;) { exec('ls'); break; }
//: name of a class
function f() {
  class eval2 {}
  class Function { }
  return new Function();
}
//: own eval
function outer(eval) {
  return eval('1');
}
//: own require
function load(require) {
  const cp = require('child_process');
  cp.exec('ls');
}
//: own require of the file
function require(name) { return { exec() {} }; }
require('child_process').exec('ls');
//: name of a function expression
const f = function exec(n) { return n ? exec(n - 1) : 0; };
//: own global object
function f(window) { window.eval('1'); }
//: own process
function f(process) { process.binding('x'); }
//: imported from elsewhere
import { exec } from './door.js';
exec('ls');
//: local eval of a module
import { eval as evaluate } from 'mathjs';
evaluate('1 + 1');
//: shadow ends with its function
import { exec } from 'child_process';
function a(exec) { exec('x'); }
function b() { exec('y'); }  //> js-child-process
//: method of the same name is no scope
const { exec } = require('child_process');
class A {
  exec() {
    exec('ls');  //> js-child-process
  }
}
//: own setTimeout
function f(setTimeout) { setTimeout('text'); }
