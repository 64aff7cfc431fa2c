// AbortSignal, close, events and garbage collection.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const { Context, POLICY, USUAL, inContext, marked, refused, until } = require('./support.cjs');

const descriptors = () => fs.readdirSync('/proc/self/fd').length;

test('aborting kills a tree that ignores SIGTERM', inContext(async (context) => {
  const marker = `marker-${process.pid}-abort`;
  let best = Infinity;
  for (let i = 0; i < 5 && best > 300; i++) {
    const controller = new AbortController();
    const stream = context.stream(['ignore_signals', marker], { ...USUAL, signal: controller.signal });
    await stream.next();
    const began = performance.now();
    controller.abort(new EvalError('enough'));
    const error = await refused(stream.result, 'cancelled');
    best = Math.min(best, performance.now() - began);
    assert.equal(error.code, 'ABORT_ERR');
    assert.ok(error.cause instanceof EvalError);
    assert.equal(error.result.outcome, 'cancelled');
    assert.deepEqual(marked(marker), []);
  }
  assert.ok(best < 300, `it took ${best} ms`);
}));

test('a signal that is aborted already starts nothing', inContext(async (context) => {
  const error = await refused(context.run(['true'], { ...USUAL, signal: AbortSignal.abort() }), 'cancelled');
  assert.equal(error.result, null);
  assert.equal(error.cause.name, 'AbortError');
  await refused(context.stream(['true'], { ...USUAL, signal: AbortSignal.abort() }).next(), 'cancelled');
}));

test('AbortSignal.timeout ends a run', inContext(async (context) => {
  const error = await refused(context.run(['sleep', '1000'], { ...USUAL, signal: AbortSignal.timeout(50) }), 'cancelled');
  assert.equal(error.cause.name, 'TimeoutError');
}));

test('an abort after the end changes nothing, and leaves no listener', inContext(async (context) => {
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  for (const [name, step] of [['addEventListener', 1], ['removeEventListener', -1]]) {
    const original = signal[name].bind(signal);
    signal[name] = (...words) => { listeners += step; return original(...words); };
  }
  for (let i = 0; i < 20; i++) await context.run(['true'], { ...USUAL, signal });
  assert.equal(listeners, 0);
  controller.abort();
}));

test('one signal ends a hundred runs', inContext(async (context) => {
  const controller = new AbortController();
  const runs = Array.from({ length: 100 }, () => context.run(['sleep', '1000'], { ...USUAL, signal: controller.signal }));
  setTimeout(() => controller.abort(), 20);
  for (const one of await Promise.allSettled(runs)) assert.equal(one.reason?.outcome, 'cancelled');
}));

test('close ends what runs, and refuses what comes', async () => {
  const context = new Context({ policy: POLICY });
  const run = context.run(['sleep', '1000'], USUAL);
  const closing = context.close();
  assert.equal(context.close(), closing);
  await refused(run, 'cancelled');
  await closing;
  await assert.rejects(context.run(['true'], USUAL), /the context is closed/);
  assert.throws(() => context.policy(), /the context is closed/);
  assert.throws(() => context.explain(['true']), /the context is closed/);
});

test('a context that ran nothing can be closed', async () => {
  await new Context({ policy: POLICY }).close();
});

test('closed contexts leave no descriptor', async () => {
  const once = async () => {
    const context = new Context({ policy: POLICY });
    await context.run(['true'], USUAL);
    await context.close();
  };
  await once();
  const before = descriptors();
  for (let i = 0; i < 20; i++) await once();
  await until(() => descriptors() <= before, `${descriptors()} descriptors, ${before} before`);
});

test('a context that is forgotten is collected, with its thread and its descriptors', { skip: !global.gc }, async () => {
  const before = descriptors();
  for (let i = 0; i < 20; i++) await new Context({ policy: POLICY }).run(['true'], USUAL);
  await until(() => { global.gc(); return descriptors() <= before; }, 'all are collected');
  assert.ok(fs.readdirSync('/proc/self/task').length < 40);
});

test('a forgotten context with a run is not collected', { skip: !global.gc }, async () => {
  const run = new Context({ policy: POLICY }).run(['sleep', '1'], USUAL);
  for (let i = 0; i < 20; i++) { global.gc(); await new Promise((resolve) => setTimeout(resolve, 10)); }
  assert.equal((await run).exitCode, 0);
});

test('events say what happens, from the level on that was asked for', async () => {
  const events = [];
  const context = new Context({ policy: POLICY, onEvent: (event) => events.push(event), eventLevel: 'info' });
  await context.run(['true'], USUAL);
  await context.run(['bash'], USUAL).catch(() => {});
  await context.close();
  const names = events.map(({ level, name, fields }) => [level, name, fields.tool]);
  assert.deepEqual(names, [['info', 'subproc.started', 'true'], ['info', 'subproc.exited', 'true'], ['warning', 'subproc.refused', '']]);
});

test('onEvent may use its context', async () => {
  let inner;
  const context = new Context({ policy: POLICY, onEvent: ({ name }) => { if (name === 'subproc.started') inner ??= context.run(['say_args', 'x'], USUAL); } });
  await context.run(['true'], USUAL);
  assert.equal((await inner).stdout.text, 'x\0');
  await context.close();
});

test('calls are in the audit log', async () => {
  const audit = `${process.env.CHOKE_NODE_AUDIT}/${process.pid}.jsonl`;
  const context = new Context({ policy: POLICY, audit, auditSync: 'none' });
  await context.run(['true'], USUAL);
  await context.run(['bash'], USUAL).catch(() => {});
  await context.close();
  const records = fs.readFileSync(audit, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(records.length >= 3 && JSON.stringify(records).includes('disallowed'));
});
