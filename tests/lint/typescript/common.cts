//: common module with its own extension
import cp = require('child_process');
cp.exec('ls');  //> js-child-process
