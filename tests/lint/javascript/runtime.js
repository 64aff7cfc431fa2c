//: binding of the process
const b = process.binding('spawn_sync');  //> js-process-binding
b.spawn({});
//: binding by key
process['binding']('spawn_sync');  //> js-process-binding
//: binding of the global process
globalThis.process.binding('process_wrap');  //> js-process-binding
//: linked binding
process._linkedBinding('x');  //> js-process-binding
//: binding of the imported process
const { binding } = require('process');
binding('spawn_sync');  //> js-process-binding
//: binding of an alias
const p = process;
p.binding('spawn_sync');  //> js-process-binding
//: loading of native code
process.dlopen(module, './x.node');  //> js-process-binding
//: execve replaces the process
process.execve('/bin/sh', ['sh']);  //> js-child-process
//: Deno run
const p = Deno.run({ cmd: ['ls'] });  //> js-runtime-spawn
//: Deno Command
const c = new Deno.Command('ls');  //> js-runtime-spawn
//: Deno Command destructured
const { Command } = Deno;
new Command('ls');  //> js-runtime-spawn
//: Bun spawn
Bun.spawn(['ls']);  //> js-runtime-spawn
//: Bun spawnSync under an alias
const start = Bun.spawnSync;
start(['ls']);  //> js-runtime-spawn
//: Bun shell
await Bun.$`ls`;  //> js-runtime-spawn
//: Bun shell imported
import { $ } from 'bun';
await $`ls`;  //> js-runtime-spawn
//: execa
const execa = require('execa');
execa('ls');  //> js-process-package
//: execa by name
import { execa } from 'execa';
execa('ls');  //> js-process-package
//: a method of execa
import { execa } from 'execa';
execa.sync('ls');  //> js-process-package
//: cross-spawn
const spawn = require('cross-spawn');
spawn('ls');  //> js-process-package
//: cross-spawn sync
const spawn = require('cross-spawn');
spawn.sync('ls');  //> js-process-package
//: shelljs
const shell = require('shelljs');
shell.exec('ls');  //> js-process-package
//: zx
import { $ } from 'zx';
await $`ls`;  //> js-process-package
//: zx without a promise
import { $ } from 'zx';
$.sync`ls`;  //> js-process-package
//: node-pty
const pty = require('node-pty');
pty.spawn('bash', []);  //> js-process-package
//: tinyexec under another name
import { x as run } from 'tinyexec';
run('ls');  //> js-process-package
