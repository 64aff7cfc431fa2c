// Checks what a caller passes, once, and makes of it the plain object that the addon reads.
//
// An option with an unknown name is an error: `requireJial: true` must not be ignored. What is wrong by its type is a
// TypeError, what is wrong by its value a RangeError. What the policy decides is not checked here.
'use strict';

const { fileURLToPath } = require('node:url');

const MOST_ITEMS = 1 << 20;
const LONE_SURROGATE = /\p{Surrogate}/u;

function wrongType(name, expected, value) {
  const error = new TypeError(`'${name}' must be ${expected}, but it is ${described(value)}`);
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

function wrongValue(name, expected) {
  const error = new RangeError(`'${name}' must be ${expected}`);
  error.code = 'ERR_OUT_OF_RANGE';
  return error;
}

function described(value) {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return `a ${typeof value}`;
}

// Text reaches the tool as it is: a lone surrogate has no UTF-8 form, and nothing comes after a NUL.
function checkText(name, value) {
  if (value.includes('\0')) throw wrongType(name, 'text without a NUL', value);
  if (LONE_SURROGATE.test(value)) throw wrongType(name, 'text without a lone surrogate', value);
}

function text(name, value) {
  if (typeof value === 'string') checkText(name, value);
  else if (!(value instanceof Uint8Array)) throw wrongType(name, 'a string or a Uint8Array', value);
  else if (value.includes(0)) throw wrongType(name, 'bytes without a NUL', value);
  return value;
}

function string(name, value) {
  if (typeof value !== 'string') throw wrongType(name, 'a string', value);
  checkText(name, value);
  return value;
}

function place(name, value) {
  if (!(value instanceof URL)) return text(name, value);
  if (value.protocol !== 'file:') throw wrongType(name, 'a path or a file: URL', value);
  return text(name, fileURLToPath(value));
}

function boolean(name, value) {
  if (typeof value !== 'boolean') throw wrongType(name, 'true or false', value);
  return value;
}

function counting(least) {
  return (name, value) => {
    if (typeof value !== 'number') throw wrongType(name, 'a number', value);
    if (!Number.isSafeInteger(value) || value < least) throw wrongValue(name, `an integer, ${least} or more`);
    return value;
  };
}

function oneOf(...names) {
  return (name, value) => {
    if (typeof value !== 'string') throw wrongType(name, 'a string', value);
    if (!names.includes(value)) throw wrongValue(name, `one of: ${names.join(', ')}`);
    return value;
  };
}

function list(name, value, item = text) {
  if (!Array.isArray(value)) throw wrongType(name, 'an array', value);
  if (value.length > MOST_ITEMS) throw wrongValue(name, `an array of at most ${MOST_ITEMS} items`);
  return Array.from(value, (one, index) => item(`${name}[${index}]`, one));
}

function environment(name, value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(name, 'an object', value);
  return Object.entries(value).map(([key, one]) => {
    string(name, key);
    if (key === '' || key.includes('=')) throw wrongValue(name, 'an object whose keys are names, without =');
    return `${key}=${string(`${name}.${key}`, one)}`;
  });
}

// A string is given to the tool as UTF-8.
function input(name, value) {
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value)) throw wrongType(name, 'text without a lone surrogate', value);
    return Buffer.from(value);
  }
  if (!(value instanceof Uint8Array)) throw wrongType(name, 'a string or a Uint8Array', value);
  return value;
}

function abortSignal(name, value) {
  if (!(value instanceof AbortSignal)) throw wrongType(name, 'an AbortSignal', value);
  return value;
}

function callback(name, value) {
  if (typeof value !== 'function') throw wrongType(name, 'a function', value);
  return value;
}

// For the addon.
const REQUEST = {
  root: place, cwd: place, timeout: counting(1), env: environment, input, stdin: counting(0), egress: (name, value) => list(name, value, string),
  probe: string, jail: oneOf('default', 'auto', 'native', 'bwrap', 'none'), requireJail: boolean, sandbox: boolean,
  maxOutput: counting(1), keepHead: counting(0), keep: place, why: boolean,
};
// For ./context.cjs.
const RUN = { check: boolean, signal: abortSignal };
const STREAM = { ...RUN, highWaterMark: counting(1) };
const CONTEXT = {
  policy: place, audit: (name, value) => value === false ? value : place(name, value),
  auditSync: oneOf('batched', 'every', 'none'), auditMaxBytes: counting(0),
  onEvent: callback, eventLevel: oneOf('debug', 'info', 'warning'),
};

// Each option is read once. undefined means that it is not given.
function read(options, ...tables) {
  if (options === undefined) return {};
  if (typeof options !== 'object' || options === null) throw wrongType('options', 'an object', options);
  const known = Object.assign(Object.create(null), ...tables);
  const given = Object.create(null);
  for (const name of Object.keys(options)) {
    if (!(name in known)) {
      const where = name in CONTEXT ? '; it is an option of new Context()' : '';
      throw wrongType(`options.${name}`, `absent: there is no such option${where}`, options[name]);
    }
    const value = options[name];
    if (value !== undefined) given[name] = known[name](name, value);
  }
  return given;
}

// { request, own }: what the addon gets, and what is for us.
function readRun(argv, options, table = RUN) {
  const given = read(options, REQUEST, table);
  const request = Object.create(null);
  const own = {};
  request.argv = list('argv', argv);
  request.root = '.';
  request.cwd = '.';
  for (const name of Object.keys(given)) (name in REQUEST ? request : own)[name] = given[name];
  if (request.input !== undefined && request.stdin !== undefined) {
    throw wrongType('stdin', 'absent if there is an input', request.stdin);
  }
  return { request, own };
}

function readContext(options) {
  const { onEvent, eventLevel = 'info', audit, ...given } = read(options, CONTEXT);
  const settings = Object.assign(Object.create(null), given, { events: onEvent !== undefined });
  if (audit === false) settings.auditLog = 'off';
  else if (audit !== undefined) settings.audit = audit;
  return { settings, onEvent, eventLevel };
}

module.exports = { readContext, readRun, RUN, STREAM };
