// Many runs leave no memory, no descriptor, no process and no thread behind. CHOKE_NODE_RUNS says how many.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const { USUAL, inContext, refused } = require('./support.cjs');

const RUNS = Number(process.env.CHOKE_NODE_RUNS ?? 2000);
const AT_ONCE = 16;
const MIB = 1 << 20;

function counts() {
  const children = fs.readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return { descriptors: fs.readdirSync('/proc/self/fd').length, threads: fs.readdirSync('/proc/self/task').length, children: children.length };
}

// Kinds of runs: ordinary, in a jail, with output, refused, aborted, streamed, failed.
async function one(context, number) {
  switch (number % 8) {
    case 0: await refused(context.run(['bash'], USUAL), 'disallowed'); break;
    case 1: await context.run(['flood', '200000', 'both'], USUAL); break;
    case 2: for await (const chunk of context.stream(['flood', '100000', 'out'], USUAL)) assert.ok(chunk); break;
    case 3: {
      const controller = new AbortController();
      setImmediate(() => controller.abort());
      await context.run(['sleep', '100'], { ...USUAL, signal: controller.signal }).catch((error) => assert.equal(error.outcome, 'cancelled'));
      break;
    }
    case 4: await context.run(['cat'], { ...USUAL, jail: 'native', input: 'x'.repeat(10000) }); break;
    case 5: await assert.rejects(context.run(['true', 5], USUAL), TypeError); break;
    default: await context.run(['true'], { ...USUAL, jail: 'native' });
  }
}

async function many(context, count, atOnce) {
  let started = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (started < count) await one(context, started++);
  }));
  for (let i = 0; i < 3; i++) { global.gc?.(); await new Promise((resolve) => setTimeout(resolve, 20)); }
}

test(`${RUNS} runs leak nothing`, inContext(async (context) => {
  // A context keeps wardens of each kind for the next runs, as many as there were at once. A kind of run that left one
  // descriptor each time would leave hundreds.
  await many(context, Math.max(RUNS / 4, 200), 2 * AT_ONCE);
  const before = counts();
  const memory = process.memoryUsage.rss();
  await many(context, RUNS, AT_ONCE);
  const grown = process.memoryUsage.rss() - memory;
  for (const [name, count] of Object.entries(counts())) {
    assert.ok(count <= before[name] + AT_ONCE, `${name}: ${count}, ${before[name]} before`);
  }
  assert.ok(grown < 24 * MIB, `the program grew by ${grown} bytes`);
}));
