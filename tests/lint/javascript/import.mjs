//: default import
import cp from 'child_process';
cp.exec('ls');  //> js-child-process
//: default import with the scheme node
import childProcess from 'node:child_process';
childProcess.spawnSync('ls');  //> js-child-process
//: namespace import
import * as cp from 'child_process';
cp.execFile('ls');  //> js-child-process
//: named import
import { exec } from 'child_process';
exec('ls');  //> js-child-process
//: named import under another name
import { exec as e } from 'node:child_process';
e('ls');  //> js-child-process@1
//: default taken by its name
import { default as cp } from 'child_process';
cp.fork('x.js');  //> js-child-process
//: default and named together
import cp, { spawn as start } from 'child_process';
cp.exec('a');  //> js-child-process
start('b');  //> js-child-process
//: default of a namespace
import * as all from 'child_process';
all.default.exec('ls');  //> js-child-process
//: import of a name that is a string
import { "exec" as go } from 'child_process';
go('ls');  //> js-child-process
//: several names over lines
import {
  execFile,
  spawn,
} from 'node:child_process';

export function run(file) {
  spawn(file);  //> js-child-process
  return execFile(file);  //> js-child-process
}
//: import below its use
run();
function run() {
  exec('ls');  //> js-child-process
}
import { exec } from 'child_process';
//: createRequire in a module
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const { execSync } = require('child_process');
execSync('ls');  //> js-child-process
//: createRequire called at once
import { createRequire as make } from 'module';
make(import.meta.url)('child_process').exec('ls');  //> js-child-process
//: createRequire of the module's default
import Module from 'node:module';
Module.createRequire(import.meta.url)('child_process').exec('ls');  //> js-child-process
//: dynamic import that is awaited
const cp = await import('child_process');
cp.exec('ls');  //> js-child-process
//: dynamic import awaited and destructured
const { exec: x } = await import('node:child_process');
x('ls');  //> js-child-process
//: dynamic import awaited in place
(await import('child_process')).default.exec('ls');  //> js-child-process
//: dynamic import kept as a promise
const soon = import('child_process');
(await soon).exec('ls');  //> js-child-process
//: dynamic import followed by then
import('child_process').then(cp => cp.exec('ls'));  //> js-child-process
//: dynamic import followed by then with a pattern
import('child_process').then(({ execSync }) => {
  execSync('ls');  //> js-child-process
});
//: dynamic import followed by then with an ordinary function
import("node:child_process").then(function (m) { return m.spawn('ls'); });  //> js-child-process
//: dynamic import with a template
const cp = await import(`node:child_process`);
cp.exec('ls');  //> js-child-process
//: dynamic import inside an async function
export async function run(what) {
  const { spawn } = await import('child_process');
  return spawn(what);  //> js-child-process
}
//: passed on by name
export { exec } from 'child_process';  //> js-child-process
//: passed on under another name
export { exec as run, spawn as start } from 'node:child_process';  //> js-child-process js-child-process
//: passed on as a whole
export * from 'child_process';  //> js-child-process
//: passed on as a namespace
export * as cp from 'child_process';  //> js-child-process
//: imported and then exported
import { exec } from 'child_process';
export { exec };  //> js-child-process
//: exported as default
import { spawn } from 'child_process';
export default spawn;  //> js-child-process
//: exported under a constant
import cp from 'child_process';
export const run = cp.exec;  //> js-child-process
//: the globals of zx
import 'zx/globals';
await $`ls -l`;  //> js-process-package
//: the globals of zx with options
import 'zx/globals';
const out = await $({ quiet: true })`ls`;  //> js-process-package
//: jQuery is clean
import $ from 'jquery';
$('p').hide();
//: a name of one's own beside the globals of zx is clean
import 'zx/globals';
const $ = (text) => text;
$`ls`;
//: git by simple-git, imported
import simpleGit, { gitP } from 'simple-git';
simpleGit('.');  //> js-process-package
gitP('.');  //> js-process-package
//: a program in an action, imported
import * as exec from '@actions/exec';
await exec.exec('ls');  //> js-process-package
