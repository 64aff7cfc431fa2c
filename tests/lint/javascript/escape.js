//: handed to promisify
const { promisify } = require('util');
const { exec } = require('child_process');
const run = promisify(exec);  //> js-child-process
//: handed to promisify in one line
const run = require('util').promisify(require('child_process').exec);  //> js-child-process
//: handed to any function
const cp = require('child_process');
['a', 'b'].forEach(cp.exec);  //> js-child-process
//: the module itself handed over
const cp = require('child_process');
wrap(cp);  //> js-child-process
//: put into an object
const { spawn } = require('child_process');
const tools = { start: spawn };  //> js-child-process
tools.start('ls');
//: put into an object by its own name
const { spawn } = require('child_process');
const tools = { spawn };  //> js-child-process
//: spread into an object
const tools = { ...require('child_process') };  //> js-child-process
//: put into an array
const { spawn } = require('child_process');
const tools = [spawn];  //> js-child-process
//: put on an object
const cp = require('child_process');
class Runner {
  constructor() {
    this.run = cp.exec;  //> js-child-process
  }
}
//: exported
module.exports.run = require('child_process').exec;  //> js-child-process
//: exported as a whole
module.exports = require('child_process');  //> js-child-process
//: returned from a function
function load() {
  return require('child_process');  //> js-child-process
}
load().exec('ls');
//: returned from an arrow function
const load = () => require('child_process');  //> js-child-process
load().exec('ls');
//: field of a class
const { exec } = require('child_process');
class Runner {
  run = exec;  //> js-child-process
}
//: through Reflect
const cp = require('child_process');
Reflect.apply(cp.exec, null, ['ls']);  //> js-child-process
//: with an await
const { exec } = require('child_process');
async function go() {
  await hand(exec);  //> js-child-process
}
//: yielded
const cp = require('child_process');
function* all() {
  yield cp.exec;  //> js-child-process
}
