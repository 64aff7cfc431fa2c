// For runtimes without all of node:test: run, stream, abort, refusal, close. Prints "ok" at its end.
'use strict';

const assert = require('node:assert/strict');
const { USUAL, inContext, refused } = require('./support.cjs');

inContext(async (context) => {
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => context.run(['say_args', String(i)], USUAL)));
  all.forEach((result, i) => assert.equal(result.stdout.text, `${i}\0`));
  await refused(context.run(['bash'], USUAL), 'disallowed');
  await refused(context.run(['sleep', '100'], { ...USUAL, signal: AbortSignal.timeout(50) }), 'cancelled');
  await assert.rejects(context.run(['true', 5], USUAL), TypeError);
  let bytes = 0;
  for await (const { data } of context.stream(['flood', '3000000', 'both'], USUAL)) bytes += data.length;
  assert.equal(bytes, 6000000);
  for await (const { data } of context.stream(['yes'], USUAL)) { assert.ok(data.length > 0); break; }
  assert.equal((await context.run(['cat'], { ...USUAL, jail: 'native', input: 'x' })).stdout.text, 'x');
})().then(() => console.log('ok'));
