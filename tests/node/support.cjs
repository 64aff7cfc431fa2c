// What the tests of bindings/node share. tests/integration/test_node.py says where policy and command are.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const chokepoint = require('chokepoint');

const POLICY = process.env.CHOKE_NODE_POLICY;
const COMMAND = process.env.CHOKE_NODE_COMMAND;
const USUAL = { timeout: 60000 };

// Runs body with a context that is closed at the end.
async function withContext(body, options = {}) {
  const context = new chokepoint.Context({ policy: POLICY, ...options });
  try {
    return await body(context);
  } finally {
    await context.close();
  }
}

// A test of node:test with a context.
function inContext(body, options) {
  return () => withContext(body, options);
}

async function refused(promise, outcome) {
  const error = await promise.then(() => assert.fail('it did not reject'), (reason) => reason);
  assert.ok(error instanceof chokepoint.ChokepointError, String(error?.stack));
  assert.equal(error.outcome, outcome);
  return error;
}

// Processes that have the marker among their arguments.
function marked(marker) {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(marker);
    } catch {
      return false;
    }
  });
}

async function until(condition, what) {
  for (let i = 0; !condition(); i++) {
    assert.ok(i < 6000, `this did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

// Every key in snake_case, as the command has it.
function snake(value) {
  if (Array.isArray(value)) return value.map(snake);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(
    ([key, one]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), snake(one)]));
}

function byCommand(...words) {
  const { LD_PRELOAD, ...env } = process.env; // a sanitized command has its own runtime
  try {
    return JSON.parse(execFileSync(COMMAND, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env }));
  } catch (error) {
    return JSON.parse(error.stdout); // its status is that of the tool
  }
}

module.exports = { ...chokepoint, POLICY, USUAL, byCommand, inContext, marked, refused, snake, until, withContext };
