//: method of a class
import { exec } from 'child_process';
export class Runner {
  private readonly name: string = 'x';
  public async run(what: string): Promise<void> {
    exec(what);  //> js-child-process
  }
}
//: property of a class
import { exec } from 'child_process';
class Runner { private run: Function = exec; }  //> js-child-process
//: static block of a class
import { exec } from 'child_process';
class Runner { static { exec('ls'); } }  //> js-child-process
//: accessor of a class
import { execSync } from 'child_process';
class Runner { get now(): string { return execSync('date').toString(); } }  //> js-child-process
//: constructor of a class
import * as cp from 'child_process';
class Runner { constructor(private how = cp.exec) { how('ls'); } }  //> js-child-process
//: decorator of a class
@eval('1')  //> js-eval
class A {}
//: argument of a decorator
import { exec } from 'child_process';
@inject(exec)  //> js-child-process
class A {}
//: in a namespace
namespace Tools {
  const { exec } = require('child_process');
  export function run(what: string) { exec(what); }  //> js-child-process
}
//: in a module of the old form
module Tools {
  export const value = eval('1');  //> js-eval
}
//: in an enumeration
enum E { A = eval('1') }  //> js-eval
//: in an abstract class
import { spawn } from 'child_process';
abstract class A { start() { return spawn('ls'); } abstract stop(): void; }  //> js-child-process
//: in an overloaded function
import { exec } from 'child_process';
function run(a: string): void;
function run(a: number): void;
function run(a: any): void { exec(a); }  //> js-child-process
//: in an async generator
import { exec } from 'child_process';
async function* all(list: string[]) { for await (const one of list) yield exec(one); }  //> js-child-process
//: in a type guard
import { execSync } from 'child_process';
function is(x: unknown): x is string { return execSync('x').length > 0; }  //> js-child-process
//: in a template
import { execSync } from 'child_process';
const text: string = `${execSync('date')}`;  //> js-child-process
//: in a default with a type
const f = (run: typeof eval = eval) => run('1');  //> js-eval
//: optional chaining with a type
import * as cp from 'child_process';
const n: number | undefined = cp?.exec?.('ls')?.pid;  //> js-child-process
//: destructured with a type
const { exec, spawn }: typeof import('child_process') = require('child_process');
exec('a');  //> js-child-process
spawn('b');  //> js-child-process
//: promisified
import { promisify } from 'util';
import { exec } from 'child_process';
const run = promisify<string, string>(exec);  //> js-child-process
//: put into a typed object
import { exec } from 'child_process';
const tools: Record<string, Function> = { exec };  //> js-child-process
//: put into a tuple
import { exec } from 'child_process';
const tools: [Function] = [exec];  //> js-child-process
//: put into a constant object
import { exec } from 'child_process';
const tools = { run: exec } as const;  //> js-child-process
//: unknown member
import * as cp from 'child_process';
export const run = (how: keyof typeof cp) => (cp[how] as any)('ls');  //> js-child-process
//: using declaration's neighbour
import { spawn } from 'child_process';
let child: ReturnType<typeof spawn>;
child = spawn('ls');  //> js-child-process
//: satisfied options
import { exec } from 'child_process';
exec('ls', { shell: '/bin/sh' } satisfies ExecOptions);  //> js-child-process
//: returned with a type
import * as cp from 'child_process';
function load(): typeof cp { return cp; }  //> js-child-process
//: returned from an arrow function
const load = (): any => require('child_process');  //> js-child-process
//: worker that evaluates
import { Worker } from 'node:worker_threads';
const w: Worker = new Worker('1', { eval: true });  //> js-worker-text
