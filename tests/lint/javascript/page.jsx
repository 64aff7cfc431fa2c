//: handler in an element
const page = <button onClick={() => eval('1')}>go</button>;  //> js-eval
//: child in an element
import { execSync } from 'child_process';
export const Page = () => (
  <p>{execSync('date').toString()}</p>  /*> js-child-process */
);
//: handed to an element
import { exec } from 'child_process';
const page = <Runner how={exec} />;  //> js-child-process
//: spread into an element
import * as cp from 'child_process';
const page = <Runner {...cp} />;  //> js-child-process
//: component named as the function
const exec = () => <b />;
const page = <exec />;
