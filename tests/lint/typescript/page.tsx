//: handler with a type
const page = <button onClick={(e: React.MouseEvent) => eval('1')}>go</button>;  //> js-eval
//: component with a type
import { execSync } from 'child_process';
export const Page: React.FC<Props> = ({ name }: Props) => {
  const now: string = execSync('date').toString();  //> js-child-process
  return <p>{now}</p>;
};
//: child of an element
import * as cp from 'child_process';
const page = <p>{(cp as any).execSync('date')}</p>;  //> js-child-process
//: generic component
const page = <List<string> items={eval('[]')} />;  //> js-eval
//: handed to an element
import { exec } from 'child_process';
const page = <Runner how={exec as Function} />;  //> js-child-process
//: spread into an element
import * as cp from 'child_process';
const page = <Runner {...cp} />;  //> js-child-process
//: in an effect
useEffect(() => {
  const f = new Function('x', 'return x');  //> js-function-constructor
  f(1);
}, []);
//: in a fragment
const page = <>{window.eval('1')}</>;  //> js-eval
//: dynamic import in a component
const load = async () => {
  const { spawn } = await import('child_process');
  spawn('ls');  //> js-child-process
};
//: generic arrow function
const f = <T,>(x: T): T => eval(String(x));  //> js-eval
//: Function under a name in a component
function Page() {
  const Make: any = Function;
  return <b>{Make('return 1')()}</b>;  /*> js-function-constructor */
}
//: text of an element
const page = <p>eval('1') and new Function('x')</p>;
//: attribute of an element
const page = <p title="eval('1')" data-exec="child_process" />;
//: component named as the function
const Function = (p: Props) => <b />;
const page = <Function name="x" />;
//: shadowed in a component
import { exec } from 'child_process';
const Page = ({ exec }: Props) => <button onClick={() => exec('ls')} />;
//: comment in an element
const page = <p>{/* eval('1') */}</p>;
