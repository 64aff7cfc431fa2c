// Whatever is passed, the answer is a result, a TypeError or a RangeError: never a crash, never a guess.
'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { ChokepointError, Context, POLICY, USUAL, credentialKind, inContext } = require('./support.cjs');

const VALUES = [undefined, null, true, false, 0, -1, 1.5, NaN, Infinity, -0, 2 ** 53, 1e300, 10n, '', 'x', 'a\0b', '\ud800', 'x'.repeat(1 << 20),
  Symbol('s'), () => {}, class {}, [], ['x'], [[]], {}, { a: 1 }, new Date(), /x/, new Map(), new Uint8Array(0), new Uint8Array([0]),
  new Uint16Array(2), new ArrayBuffer(8), new SharedArrayBuffer(8), new DataView(new ArrayBuffer(8)), Promise.resolve(), new Proxy({}, {}),
  new Proxy([], {}), Object.create(null), Buffer.from('x'), new URL('http://example.org/'), new AbortController().signal];
const OPTIONS = ['root', 'cwd', 'timeout', 'env', 'input', 'stdin', 'egress', 'probe', 'jail', 'requireJail', 'sandbox', 'maxOutput',
  'keepHead', 'keep', 'why', 'check', 'signal', 'highWaterMark'];
const ACCEPTED = [TypeError, RangeError, ChokepointError];

const accepted = (error) => ACCEPTED.some((kind) => error instanceof kind);

// An iteration that is refused at once, or comes to its end.
async function drained(context, argv, options) {
  for await (const chunk of context.stream(argv, options)) assert.ok(Buffer.isBuffer(chunk.data));
}

async function survives(body, what) {
  try {
    await body();
  } catch (error) {
    assert.ok(accepted(error), `${what}: ${error?.stack}`);
    return error;
  }
  return null;
}

test('every option with every kind of value', inContext(async (context) => {
  for (const name of OPTIONS) {
    for (const value of VALUES) {
      const options = { timeout: 60000, [name]: value };
      await survives(() => context.run(['true'], options), name);
      await survives(() => drained(context, ['true'], options), name);
      await survives(() => context.explain(['true'], options), name);
    }
  }
}));

test('every kind of value in the place of argv, an argument and the options', inContext(async (context) => {
  for (const value of VALUES) {
    await survives(() => context.run(value, USUAL), 'argv');
    await survives(() => context.run([value], USUAL), 'argv[0]');
    await survives(() => context.run(['true', value], USUAL), 'argv[1]');
    await survives(() => context.run(['true'], value), 'options');
    await survives(() => context.run(['true'], { ...USUAL, env: { A: value } }), 'env');
    await survives(() => context.run(['true'], { ...USUAL, egress: [value] }), 'egress');
  }
}));

test('every option of a context with every kind of value', async () => {
  for (const name of ['policy', 'audit', 'auditSync', 'auditMaxBytes', 'onEvent', 'eventLevel']) {
    for (const value of VALUES) await survives(() => new Context({ policy: POLICY, [name]: value }).close(), name);
  }
  for (const value of VALUES) await survives(() => new Context(value).close(), 'options');
});

test('wrong types are a TypeError that names the option', inContext(async (context) => {
  const wrong = { root: 1, cwd: {}, timeout: '5', env: [], input: 5, stdin: 'x', egress: 'host', probe: 1, jail: 1, requireJail: 'yes',
    sandbox: 1, maxOutput: '1', keepHead: null, keep: true, why: 0, check: 'no', signal: {} };
  for (const [name, value] of Object.entries(wrong)) {
    await assert.rejects(context.run(['true'], { ...USUAL, [name]: value }), (error) => {
      assert.ok(error instanceof TypeError && error.message.includes(`'${name}'`), error.stack);
      return true;
    });
  }
  for (const argv of [undefined, 'true', 5, {}, ['true', 5], ['a\0b'], ['true', '\udfff'], ['true', new Uint8Array([0])], [, 'x']]) {
    await assert.rejects(context.run(argv, USUAL), TypeError);
  }
  for (const [name, value] of [['timeout', 0], ['timeout', 1.5], ['maxOutput', -1], ['jail', 'prison'], ['stdin', -1]]) {
    await assert.rejects(context.run(['true'], { ...USUAL, [name]: value }), RangeError);
  }
  assert.throws(() => credentialKind(5), TypeError);
}));

test('an option with an unknown name is refused', inContext(async (context) => {
  await assert.rejects(context.run(['true'], { ...USUAL, requireJial: true }), /'options.requireJial'.*no such option/);
  await assert.rejects(context.run(['true'], { ...USUAL, policy: 'x' }), /option of new Context/);
  await assert.rejects(context.run(['true'], { ...USUAL, highWaterMark: 5 }), TypeError);
  await assert.rejects(context.run(['true'], { ...USUAL, input: 'x', stdin: 0 }), TypeError);
  assert.throws(() => new Context({ polcy: 'x' }), TypeError);
}));

test('an accessor is read once, and its error is the caller\'s', inContext(async (context) => {
  let reads = 0;
  const argv = ['say_args', 'a'];
  Object.defineProperty(argv, 1, { get: () => `${++reads}`, enumerable: true });
  assert.equal((await context.run(argv, USUAL)).stdout.text, '1\0');
  const options = { ...USUAL, get root() { throw new EvalError('mine'); } };
  await assert.rejects(context.run(['true'], options), EvalError);
}));

test('methods on another object are a TypeError', inContext(async (context) => {
  for (const name of ['run', 'explain', 'policy', 'close', 'stream']) {
    for (const self of [{}, undefined, Object.create(context)]) {
      await assert.rejects(async () => {
        const returned = Context.prototype[name].call(self, ['true']);
        await (returned.result ?? returned);
      }, TypeError, name);
    }
  }
  assert.throws(() => Context(), TypeError);
}));

test('a setter on a prototype cannot reach into a call', inContext(async (context) => {
  // The addon appends to arrays. This is called while the library works, and must not get into it.
  const inside = [];
  Object.defineProperty(Array.prototype, 3, {
    set(value) {
      Object.defineProperty(this, 3, { value, writable: true, enumerable: true, configurable: true });
      try {
        context.explain(['true']);
      } catch (error) {
        inside.push(error.message);
      }
    },
    configurable: true,
  });
  try {
    await drained(context, ['flood', '500000', 'both'], USUAL);
  } finally {
    delete Array.prototype[3];
  }
  assert.ok(inside.length === 0 || inside.some((message) => message.includes('in use')));
}));

test('random arguments arrive, or are refused by their type', inContext(async (context) => {
  let seed = 12345;
  const random = (below) => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed % below; };
  const character = () => String.fromCodePoint([random(128), random(0x800), random(0x10000), random(0x110000)][random(4)]);
  const runs = Array.from({ length: 300 }, async () => {
    const word = Array.from({ length: random(20) }, character).join('');
    const good = !word.includes('\0') && !/\p{Surrogate}/u.test(word);
    const error = await survives(async () => {
      assert.equal((await context.run(['say_args', word], USUAL)).stdout.text, `${word}\0`);
    }, JSON.stringify(word));
    assert.ok(good ? error === null : error instanceof TypeError, JSON.stringify(word));
  });
  await Promise.all(runs);
}));

test('huge arguments are refused, and empty ones pass', inContext(async (context) => {
  await assert.rejects(context.run(['say_args', 'x'.repeat(64 << 20)], USUAL), ChokepointError);
  await assert.rejects(context.run(Array(2 ** 32 - 1), USUAL), RangeError);
  await assert.rejects(context.run(Array(1000000).fill('say_args'), USUAL), ChokepointError);
  assert.equal((await context.run(['say_args', '', ''], USUAL)).stdout.bytes, 2);
}));
