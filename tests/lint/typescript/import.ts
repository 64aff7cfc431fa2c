//: default import
import cp from 'child_process';
cp.exec('ls');  //> js-child-process@1
//: named import
import { exec } from 'node:child_process';
exec('ls');  //> js-child-process
//: named import under another name
import { spawn as start } from 'child_process';
start('ls', []);  //> js-child-process
//: namespace import
import * as cp from 'child_process';
cp.execSync('ls');  //> js-child-process
//: import by assignment
import cp = require('child_process');
cp.exec('ls');  //> js-child-process
//: import by assignment with the scheme
import cp = require('node:child_process');
const { fork } = cp;
fork('x.js');  //> js-child-process
//: import of an alias of a namespace
import * as cp from 'child_process';
import run = cp.exec;
run('ls');  //> js-child-process
//: types and values in one import
import { type ExecOptions, exec } from 'child_process';
const o: ExecOptions = {};
exec('ls', o);  //> js-child-process
//: require with a type
const cp: any = require('child_process');
cp.exec('ls');  //> js-child-process
//: require with a type of the module
const cp = require('child_process') as typeof import('child_process');
cp.exec('ls');  //> js-child-process
//: require in an old cast
const cp = <any>require('child_process');
cp.exec('ls');  //> js-child-process
//: dynamic import
const { exec } = await import('child_process');
exec('ls');  //> js-child-process
//: dynamic import with a type
const cp: typeof import('child_process') = await import('child_process');
cp.spawn('ls');  //> js-child-process
//: dynamic import with then
import('child_process').then((cp: any): void => { cp.exec('ls'); });  //> js-child-process
//: dynamic import with then and a typed pattern
import('child_process').then(({ exec }: { exec: Function }) => exec('ls'));  //> js-child-process
//: createRequire
import { createRequire } from 'module';
const load: NodeRequire = createRequire(import.meta.url);
load('child_process').exec('ls');  //> js-child-process
//: passed on
export { exec } from 'child_process';  //> js-child-process
//: passed on as a whole
export * from 'node:child_process';  //> js-child-process
//: exported by assignment
import * as cp from 'child_process';
export = cp;  //> js-child-process
//: exported as default
import { exec } from 'child_process';
export default exec;  //> js-child-process
//: execa
import { execa, type Options } from 'execa';
await execa('ls');  //> js-process-package
//: cross-spawn by assignment
import spawn = require('cross-spawn');
spawn('ls');  //> js-process-package
//: Deno
const command = new Deno.Command('ls', { args: [] });  //> js-runtime-spawn
//: Bun
const p: Subprocess = Bun.spawn(['ls']);  //> js-runtime-spawn
//: vm
import vm from 'node:vm';
const s: vm.Script = new vm.Script('1');  //> js-vm
//: vm by name
import { runInNewContext } from 'vm';
const r = runInNewContext('1') as number;  //> js-vm
//: binding
const b = (process as any).binding('spawn_sync');  //> js-process-binding
