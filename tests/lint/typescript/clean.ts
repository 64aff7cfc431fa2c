//: type import
import type { ChildProcess } from 'child_process';
let child: ChildProcess | undefined;
//: type import of a function is no value
import type { exec } from 'child_process';
type Exec = typeof exec;
//: type in an import
import { type ChildProcess, type exec } from 'child_process';
let c: ChildProcess;
//: type import as a whole
import type * as cp from 'child_process';
type Exec = typeof cp.exec;
//: type export
export type { ExecOptions } from 'child_process';
//: type of a dynamic import
type CP = typeof import('child_process');
//: type query of a function
import { exec } from 'child_process';
type Exec = typeof exec;
let e: Parameters<typeof exec>[0];
//: Function as a type
let f: Function;
function g(h: Function): Function { return h; }
//: Function as a type argument
const m = new Map<string, Function>();
//: interface with the names
interface Tools { exec(what: string): void; eval: string; fork?: () => void; }
//: interface with a call
interface Tools { (eval: string): void; new (Function: string): Tools; }
//: type with the names
type T = { exec: string; eval: number } | 'eval' | 'child_process';
//: regular expression
const m: RegExpExecArray | null = /a/.exec('a');
//: exec of a database
const r: Result = await db.exec('select 1');
//: exec of a query
const users: User[] = await User.find().exec();
//: eval of another object
const r = (client as Redis).eval('return 1');
//: own method
class A { private exec(s: string) {} run() { this.exec('x'); } }
//: own method with overloads
class A { exec(a: string): void; exec(a: any): void {} }
//: abstract method
abstract class A { abstract exec(s: string): void; abstract eval(): void; }
//: enumeration's members
enum Mode { eval, exec, spawn = 3 }
const m = Mode.exec;
//: in a string
const s: string = "eval('1')";
//: in a literal type
const s = 'child_process' as const;
//: in a template type
type T = `eval(${string})`;
//: in a comment
// eval('1'); new Function('x');
//: in a documentation comment
/** {@link exec} runs `new Function('x')` */
export const x = 1;
//: generic call
const f = make<Function>('x');
//: instanceof
if (x instanceof Function) (x as Function)('y');
//: decorator
@Component({ selector: 'eval', template: 'exec()' })
class A {}
//: declare module
declare module 'child_process' { export function door(what: string): void; }
//: declare global
declare global { interface Window { eval: any; exec(): void } }
//: keyof and index types
type K = keyof typeof import('child_process');
type E = Tools['exec'];
//: mapped and conditional types
type M = { [K in 'exec' | 'eval']: K extends 'eval' ? Function : never };
//: asserted function
function assertIsFunction(x: unknown): asserts x is Function { if (typeof x !== 'function') throw x; }
//: timer with a function
const t: NodeJS.Timeout = setTimeout((): void => run(), 10);
//: import without a use
import * as cp from 'child_process';
//: mock that only names it
jest.mock('child_process');
vi.mock('node:child_process', () => ({}));
//: mocked type
import * as cp from 'child_process';
type M = jest.Mocked<typeof cp>;
//: a path that ends so
import { exec } from '@app/child_process';
exec('ls');
//: property of this
class A { eval = (s: string) => s; go() { return this.eval('x'); } }
//: Function in an array of types for injection
const types: any[] = [String, Number];
//: object with methods
const o = { exec<T>(x: T): T { return x; }, eval(): void {} };
o.exec<string>('x');
//: the door
import { Door } from '@choke/door';
await new Door().run(['git', 'status']);
//: satisfied configuration
export default { exec: 'x', eval: false } satisfies Config;
