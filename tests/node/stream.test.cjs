// stream(): output as it arrives, back-pressure, and what leaving the loop does.
'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { USUAL, inContext, marked, refused, until } = require('./support.cjs');

const MIB = 1 << 20;

async function read(stream) {
  const parts = { stdout: [], stderr: [] };
  for await (const { stream: name, data } of stream) parts[name].push(data);
  return { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr) };
}

test('a stream has every byte of both streams in order', inContext(async (context) => {
  const whole = await context.run(['flood', String(3 * MIB), 'both'], USUAL);
  for (const jail of ['none', 'native']) {
    const stream = context.stream(['flood', String(3 * MIB), 'both'], { ...USUAL, jail, highWaterMark: 65536 });
    const got = await read(stream);
    assert.ok(got.stdout.equals(whole.stdout.data) && got.stderr.equals(whole.stderr.data));
    const { stdout, stderr, exitCode } = await stream.result;
    assert.deepEqual([stdout, stderr, exitCode],
      [{ bytes: 3 * MIB, truncated: false }, { bytes: 3 * MIB, truncated: false }, 0]);
  }
}));

test('output is there before the tool ends', inContext(async (context) => {
  const stream = context.stream(['sh', '-c', 'echo first; sleep 1000'], USUAL);
  const { value } = await stream.next();
  assert.deepEqual(value, { stream: 'stdout', data: Buffer.from('first\n') });
  await stream.return();
}));

test('a tool waits for a slow reader', inContext(async (context) => {
  const before = process.memoryUsage.rss();
  const stream = context.stream(['yes'], { ...USUAL, highWaterMark: MIB });
  await stream.next();
  const cpu = () => process.memoryUsage.rss() - before;
  for (let i = 0; i < 50; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(cpu() < 48 * MIB, `${cpu()} bytes`);
  }
  let bytes = 0;
  for await (const { data } of stream) {
    bytes += data.length;
    if (bytes > 20 * MIB) break;
  }
  assert.equal((await refused(stream.result, 'cancelled')).result.outcome, 'cancelled');
}));

test('leaving the loop ends the tool, also one that ignores signals', inContext(async (context) => {
  const marker = `marker-${process.pid}-leave`;
  for await (const { data } of context.stream(['ignore_signals', marker], USUAL)) {
    assert.equal(data.toString(), 'ready\n');
    assert.ok(marked(marker).length > 0);
    break;
  }
  assert.deepEqual(marked(marker), []);
}));

test('an error in the loop ends the tool and stays the error', inContext(async (context) => {
  const marker = `marker-${process.pid}-throw`;
  await assert.rejects(async () => {
    for await (const chunk of context.stream(['ignore_signals', marker], USUAL)) throw new EvalError(chunk.stream);
  }, EvalError);
  assert.deepEqual(marked(marker), []);
}));

test('a refusal is thrown by the loop and by the result', inContext(async (context) => {
  const stream = context.stream(['bash'], USUAL);
  await refused(read(stream), 'disallowed');
  await refused(stream.result, 'disallowed');
  assert.deepEqual(await stream.next(), { value: undefined, done: true });
  await refused(read(context.stream(['sh', '-c', 'exit 3'], { ...USUAL, check: true })), 'exited');
}));

test('what was written before a timeout is read, then the timeout is thrown', inContext(async (context) => {
  const chunks = [];
  await refused((async () => {
    for await (const { data } of context.stream(['sh', '-c', 'echo a; sleep 1000'], { timeout: 1000 })) chunks.push(data);
  })(), 'timeout');
  assert.equal(Buffer.concat(chunks).toString(), 'a\n');
}));

test('several readers of one stream get each chunk once', inContext(async (context) => {
  const stream = context.stream(['flood', String(MIB), 'out'], USUAL);
  const [one, two] = await Promise.all([read(stream), read(stream)]);
  assert.equal(one.stdout.length + two.stdout.length, MIB);
}));

test('a stream that nobody reads ends at its timeout, and with its context', inContext(async (context) => {
  await refused(context.stream(['yes'], { timeout: 1000 }).result, 'timeout');
  const left = context.stream(['yes'], USUAL);
  await until(() => true, 'it runs');
  await context.close();
  await refused(left.result, 'cancelled');
}));
