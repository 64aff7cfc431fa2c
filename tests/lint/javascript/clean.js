//: regular expression
const match = /a(b)/.exec('ab');
//: regular expression under a name
const re = new RegExp('a');
while (re.exec(text)) {}
//: exec of a database
const db = require('better-sqlite3')('x.db');
db.exec('select 1');
//: exec of a query
User.find({}).exec((err, users) => {});
//: spawn of a game
const game = require('./game');
game.spawn('monster');
//: fork of a repository
octokit.repos.fork({ owner: 'a' });
//: eval as a method of another object
math.eval('1 + 1');
//: eval of redis
await client.eval('return 1', 0);
//: in a string
const text = "require('child_process').exec('ls')";
//: in a template
const text = `eval('1') and new Function('x')`;
//: in a line comment
// eval('1'); require('child_process').exec('ls');
//: in a block comment
/* eval('1');
 * new Function('x') */
//: in a regular expression
const re = /eval\('1'\)/;
//: in a JSDoc comment
/**
 * @example require('child_process').exec('ls')
 */
function f() {}
//: the module is only named
jest.mock('child_process');
//: the module is required and not used
const cp = require('child_process');
//: a constant of the module that is no function
const cp = require('child_process');
if (typeof cp.exec === 'function') log('there');
//: comparison with Function
if (x instanceof Function || x.constructor === Function) f();
//: prototype of Function
Function.prototype.call.call(f, null);
//: Function as a type of a property
export default { props: { done: { type: Function } } };
//: typeof eval
if (typeof eval !== 'undefined') f();
//: key of an object
const o = { eval: 1, exec: 2, Function: 3 };
o.eval + o.exec;
//: method definitions
const o = { eval() {}, exec() {}, spawn: () => 1 };
o.exec('x');
//: property of this
this.exec('ls');
//: label
exec: for (;;) { break exec; }
//: timer with a function
setTimeout(() => run(), 10);
setInterval(run, 10, 'text');
//: timer with a bound function
window.setTimeout(run.bind(null, 'x'), 10);
//: process without bindings
process.exit(0);
process.env.HOME;
//: another module whose name contains it
const cp = require('./child_process');
cp.exec('ls');
//: another package of a like name
const cp = require('child_process_promise');
cp.exec('ls');
//: a path that ends so
import { exec } from '../lib/child_process';
exec('ls');
//: constructor of an ordinary object
const copy = new this.constructor(1);
const other = x.constructor('a');
//: constructor inside a class
class A { constructor(f) { this.f = f; } }
//: import of a file
const m = await import('./worker.js');
m.run('ls');
//: Deno that reads
const text = await Deno.readTextFile('x');
//: exec of an object of one's own
const tools = { exec(x) { return x; } };
tools.exec('ls');
//: JSX that only names it
const page = <p title="eval('1')">eval('1')</p>;
//: hashbang and directive
'use strict';
const door = require('@choke/door');
door.run(['git', 'status']);
//: private method
class A { #exec() {} go() { this.#exec(); } }
//: the function call taken from Function
const has = Function.call.bind(Object.prototype.hasOwnProperty);
const apply = Function.apply.call(f, null, []);
