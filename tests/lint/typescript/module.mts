//: module with its own extension
import { exec } from 'node:child_process';
exec('ls');  //> js-child-process
