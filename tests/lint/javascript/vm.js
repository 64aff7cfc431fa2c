//: runInNewContext
const vm = require('vm');
vm.runInNewContext('1 + 1');  //> js-vm
//: runInThisContext
require('node:vm').runInThisContext('1');  //> js-vm
//: runInContext by name
const { runInContext, createContext } = require('vm');
runInContext('1', createContext({}));  //> js-vm
//: Script
const vm = require('vm');
const script = new vm.Script('1');  //> js-vm
//: Script by name
const { Script } = require('vm');
new Script('1').runInThisContext();  //> js-vm
//: Script under another name
const { Script: S } = require('vm');
new S('1');  //> js-vm
//: compileFunction
const vm = require('vm');
vm.compileFunction('return 1');  //> js-vm
//: SourceTextModule
const vm = require('vm');
new vm.SourceTextModule('1');  //> js-vm
//: by literal key
const vm = require('vm');
vm['runInNewContext']('1');  //> js-vm
//: dynamic import
async function f() {
  const vm = await import('vm');
  vm.runInThisContext('1');  //> js-vm
}
//: text handed to the module's own compiler
module._compile('1', 'x.js');  //> js-vm
//: a worker that evaluates text
const { Worker } = require('worker_threads');
new Worker('1', { eval: true });  //> js-worker-text
//: a context alone runs nothing
const vm = require('vm');
const context = vm.createContext({});
vm.isContext(context);
//: a worker from a file
const { Worker } = require('worker_threads');
new Worker('./worker.js');
