//: module kept under a short name
const cp = require('child_process');
cp.exec('ls');  //> js-child-process@1
//: module with the scheme node
const cp = require('node:child_process');
cp.spawn('ls', ['-l']);  //> js-child-process
//: call straight on what require gives
require('child_process').execSync('ls');  //> js-child-process
//: one function picked from the module
const exec = require('child_process').exec;
exec('ls', () => {});  //> js-child-process
//: destructured
const { spawn } = require('child_process');
spawn('ls');  //> js-child-process
//: destructured and renamed
const { execFile: run } = require('child_process');
run('ls', ['-l']);  //> js-child-process
//: destructured with a default
const { fork = null } = require('child_process');
fork('./worker.js');  //> js-child-process
//: destructured under a quoted key
const { 'spawnSync': start } = require("child_process");
start('ls');  //> js-child-process
//: destructured under a computed literal key
const { ['exec']: go } = require("child_process");
go('ls');  //> js-child-process
//: what is left of a destructuring
const { fork, ...others } = require('child_process');
others.execSync('id');  //> js-child-process
//: destructured in an assignment
let execFileSync;
({ execFileSync } = require('child_process'));
execFileSync('id');  //> js-child-process
//: template literal as module name
const cp = require(`child_process`);
cp.exec('ls');  //> js-child-process
//: module name put together from parts
const cp = require('child_' + 'process');
cp.exec('ls');  //> js-child-process
//: module name held in a constant
const NAME = 'child_process';
require(NAME).exec('ls');  //> js-child-process
//: module name through a template with a constant
const half = 'process';
const cp = require(`child_${half}`);
cp.fork('x.js');  //> js-child-process
//: module name written with escapes
const cp = require('child\x5fprocess');
cp.exec('ls');  //> js-child-process
//: require under another name
const load = require;
const cp = load('child_process');
cp.exec('ls');  //> js-child-process
//: require of the module object
const cp = module.require('child_process');
cp.exec('ls');  //> js-child-process
//: require of the main module
process.mainModule.require('child_process').exec('ls');  //> js-child-process
//: require made by createRequire
const { createRequire } = require('module');
const load = createRequire(__filename);
load('child_process').exec('ls');  //> js-child-process
//: built-in module asked for by name
const cp = process.getBuiltinModule('node:child_process');
cp.exec('ls');  //> js-child-process
//: member by a literal key
const cp = require('child_process');
cp['exec']('ls');  //> js-child-process
//: member by a key put together
const cp = require('child_process');
cp['ex' + 'ec']('ls');  //> js-child-process
//: member by a name that nobody can tell
const cp = require('child_process');
module.exports = (how, what) => {
  cp[how](what);  //> js-child-process
};
//: optional calls
const cp = require('child_process');
cp?.exec?.('ls');  //> js-child-process
//: call through call, apply and bind
const { exec } = require('child_process');
exec.call(null, 'ls');  //> js-child-process
exec.apply(null, ['ls']);  //> js-child-process
const later = exec.bind(null, 'ls');  //> js-child-process
//: required in the middle of a function
function run(what) {
  if (what) {
    const cp = require('child_process');
    return cp.execSync(what);  //> js-child-process
  }
  return null;
}
//: required lazily into a variable of the file
let cp;
function run(what) {
  cp = cp || require('child_process');
  cp.exec(what);  //> js-child-process
}
//: used before it is required, as hoisting allows
function run(what) {
  return cp.exec(what);  //> js-child-process
}
var cp = require('child_process');
//: two on one line
const cp = require('child_process');
cp.exec('a'); cp.spawn('b');  //> js-child-process js-child-process
//: one within the other's callback
const { exec } = require('child_process');
exec('a', () => {  //> js-child-process
  exec('b');  //> js-child-process
});
//: cluster makes processes too
const cluster = require('cluster');
cluster.fork();  //> js-child-process
//: spread over lines
const result = require('child_process')  //> js-child-process
  .execSync('ls')
  .toString();
//: ChildProcess made by hand
const { ChildProcess } = require('child_process');
const child = new ChildProcess();  //> js-child-process
//: a member with an escape in its name
const { ex\u0065c: go } = require('child_process');
go('ls');  //> js-child-process
//: \e and \a are no escapes here, the backslash is dropped
require('child_process')['\exec']('ls');  //> js-child-process
require('c\hild_process')['sp\awn']('ls');  //> js-child-process
//: git by simple-git
const git = require('simple-git')();  //> js-process-package
//: git by simple-git, destructured
const { simpleGit } = require('simple-git');
simpleGit('.').log();  //> js-process-package
//: git by simple-git with promises
const open = require('simple-git/promise');
open('.');  //> js-process-package
//: a program in an action
const exec = require('@actions/exec');
exec.exec('ls', ['-l']);  //> js-process-package
//: a program in an action, with its output
const { getExecOutput } = require('@actions/exec');
getExecOutput('ls');  //> js-process-package
//: the globals of shelljs
require('shelljs/global');
exec('ls -l');  //> js-process-package
ls('-l');
//: the globals of two packages, one of them named in other quotes
require(`shelljs/global`);
import('zx/globals');
exec('ls -l');  //> js-process-package
await $`ls -l`;  //> js-process-package
//: the method exec of a pattern beside the globals of shelljs is clean
require('shelljs/global');
/a/.exec('a');
//: a function exec of one's own beside shelljs is clean
const shell = require('shelljs/make');
const global = 1;
function exec(text) { return text; }
exec('ls');
//: a script that zx runs
#!/usr/bin/env zx
await $`ls`;  //> js-process-package
//: a script that npx finds zx for
#!/usr/bin/env -S npx zx --quiet
await $`ls`;  //> js-process-package
//: a script that another program runs, with zx in its name
#!/usr/bin/env zxcvbn
await $`ls`;
