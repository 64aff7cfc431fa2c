// The package chokepoint: index.d.ts describes it, docs/node.md is its manual.
'use strict';

const native = require('./native.cjs');
const { Context } = require('./context.cjs');
const { ChokepointError } = require('./error.cjs');

let shared;

// One context for the calls that name none: the machine's policy or the embedded one, no audit log of its own.
function context() {
  shared ??= new Context();
  return shared;
}

function run(argv, options) {
  try {
    return context().run(argv, options);
  } catch (error) {
    return Promise.reject(error);
  }
}

exports.ChokepointError = ChokepointError;
exports.Context = Context;
exports.credentialKind = (text) => native.credentialKind(text);
exports.explain = (argv, options) => context().explain(argv, options);
exports.run = run;
exports.stream = (argv, options) => context().stream(argv, options);
exports.version = native.version;
