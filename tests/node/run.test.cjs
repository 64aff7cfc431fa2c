// run(): results, refusals, what a tool gets and what a caller gets.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { pathToFileURL } = require('node:url');
const test = require('node:test');
const { ChokepointError, Context, POLICY, USUAL, byCommand, credentialKind, inContext, refused, run, snake, stream,
  explain, version } = require('./support.cjs');

const VARYING = ['duration_ms', 'user_ms', 'system_ms', 'max_rss_kib'];

// The JSON of the command and of our result, without what differs from run to run.
function same(context, argv, words = []) {
  const theirs = byCommand('run', '--json', '--policy', POLICY, '--no-audit', '--timeout', '60', ...words, '--', ...argv);
  return context.run(argv, { ...USUAL, ...(words.includes('native') ? { jail: 'native' } : {}) })
    .catch((error) => error.result)
    .then((result) => {
      const ours = snake(JSON.parse(JSON.stringify(result)));
      assert.deepEqual(Object.keys(ours), Object.keys(theirs));
      for (const name of VARYING) {
        assert.equal(typeof ours[name], 'number');
        delete ours[name];
        delete theirs[name];
      }
      assert.deepEqual(ours, theirs);
    });
}

test('a result is the JSON of the command in camelCase', inContext(async (context) => {
  await same(context, ['say_args', 'a', 'ü', '']);
  await same(context, ['flood', '10', 'both']);
  await same(context, ['sh', '-c', 'printf "\\377"; exit 3']);
  await same(context, ['sh', '-c', 'kill -9 $$']);
  await same(context, ['unknown']);
  await same(context, ['say_args', 'x'], ['--jail', 'native']);
}));

test('output has its bytes, outside of the JSON', inContext(async (context) => {
  const { stdout, stderr } = await context.run(['sh', '-c', 'printf "\\377\\000x"; printf e >&2'], USUAL);
  assert.deepEqual([...stdout.data], [255, 0, 120]);
  assert.equal(stdout.base64, '/wB4');
  assert.equal(stdout.text, undefined);
  assert.equal(stderr.text, 'e');
  assert.ok(!JSON.stringify(stdout).includes('data'));
}));

test('arguments arrive byte for byte', inContext(async (context) => {
  const bytes = Buffer.from([0xff, 0x41, 0xc3]);
  const argv = ['say_args', '', ' ', 'ünï', '\u{1f600}', '-x', '\n', bytes, new Uint8Array([0x80])];
  const { stdout } = await context.run(argv, USUAL);
  const expected = argv.slice(1).flatMap((one) => [Buffer.from(one), Buffer.from([0])]);
  assert.deepEqual(stdout.data, Buffer.concat(expected));
}));

test('a refusal rejects with outcome and result', inContext(async (context) => {
  const error = await refused(context.run(['bash', '-c', 'id'], USUAL), 'disallowed');
  assert.match(error.message, /'bash' is not in the policy/);
  assert.equal(error.code, 'ERR_CHOKEPOINT');
  assert.equal(error.name, 'ChokepointError');
  assert.equal(error.result.outcome, 'disallowed');
  assert.equal(error.result.rule, 'tools');
  assert.ok(!Object.keys(error).includes('result'), 'a logged error prints no output');
  await refused(context.run(['true'], { ...USUAL, cwd: '/' }), 'cwd');
  await refused(context.run(['true'], { ...USUAL, env: { A: 'b' } }), 'env_forbidden');
  await refused(context.run([], USUAL), 'invalid');
  await refused(context.run(['true'], { ...USUAL, maxOutput: 5 }), 'invalid');
}));

test('a timeout rejects, with the output so far', inContext(async (context) => {
  const error = await refused(context.run(['sh', '-c', 'echo so far; sleep 100'], { timeout: 1000 }), 'timeout');
  assert.equal(error.result.stdout.text, 'so far\n');
}));

test('a status is a result, and with check an error', inContext(async (context) => {
  const argv = ['sh', '-c', 'echo no >&2; exit 7'];
  assert.equal((await context.run(argv, USUAL)).exitCode, 7);
  const error = await refused(context.run(argv, { ...USUAL, check: true }), 'exited');
  assert.equal(error.message, "'sh' exited with 7");
  assert.equal(error.result.stderr.text, 'no\n');
  const killed = ['sh', '-c', 'kill -TERM $$'];
  assert.equal((await context.run(killed, USUAL)).signal, 15);
  await refused(context.run(killed, { ...USUAL, check: true }), 'signaled');
  assert.equal((await context.run(['true'], { ...USUAL, check: true })).exitCode, 0);
}));

test('the jail that is asked for is used', inContext(async (context) => {
  for (const jail of ['native', 'bwrap']) {
    const result = await context.run(['git', '--version'], { ...USUAL, jail, requireJail: true });
    assert.equal(result.jail, jail);
    assert.match(result.stdout.text, /^git version/);
    assert.ok(result.layers.includes('net_ns'), String(result.layers));
  }
}, { policy: undefined }));

test('input and stdin reach the tool', inContext(async (context) => {
  const large = Buffer.alloc(3 << 20, 'abc');
  for (const jail of ['none', 'native']) {
    assert.equal((await context.run(['cat'], { ...USUAL, jail, input: 'tëxt' })).stdout.text, 'tëxt');
    assert.deepEqual((await context.run(['cat'], { ...USUAL, jail, input: large })).stdout.data, large);
    assert.equal((await context.run(['cat'], { ...USUAL, jail, input: '' })).stdout.bytes, 0);
    assert.equal((await context.run(['cat'], { ...USUAL, jail })).stdout.bytes, 0);
    const file = fs.openSync(__filename);
    assert.equal((await context.run(['cat'], { ...USUAL, jail, stdin: file })).stdout.text, fs.readFileSync(__filename, 'utf8'));
    fs.closeSync(file);
  }
  await assert.rejects(context.run(['cat'], { ...USUAL, stdin: 999999 }), ChokepointError);
}));

test('nothing of the environment is inherited', inContext(async (context) => {
  process.env.LEAKED = 'secret';
  const { stdout } = await context.run(['say_env'], USUAL);
  assert.ok(stdout.bytes > 0 && !stdout.data.includes('LEAKED'));
}));

test('paths may be text, bytes or a URL', inContext(async (context) => {
  const root = process.cwd();
  for (const one of [root, Buffer.from(root), pathToFileURL(root)]) {
    assert.equal((await context.run(['true'], { ...USUAL, root: one, cwd: one })).exitCode, 0);
  }
}));

test('over the cap the end is kept, and the beginning on request', inContext(async (context) => {
  const { stdout } = await context.run(['flood', '100000', 'out'], { ...USUAL, maxOutput: 1000, keepHead: 100 });
  assert.equal(stdout.data.length, 1000);
  assert.ok(stdout.truncated && stdout.bytes === 100000);
  assert.equal(stdout.data.indexOf('...[TRUNCATED]...'), 100);
}));

test('a thousand runs at once each have their own result', inContext(async (context) => {
  const runs = Array.from({ length: 1000 }, (_, i) => context.run(['say_args', String(i)], USUAL));
  const results = await Promise.all(runs);
  results.forEach((result, i) => assert.equal(result.stdout.text, `${i}\0`));
}));

test('a loop that awaits each run does not starve timers', inContext(async (context) => {
  let ticks = 0;
  const timer = setInterval(() => { ticks += 1; }, 1);
  for (let i = 0; i < 50; i++) await context.run(['true'], USUAL);
  clearInterval(timer);
  assert.ok(ticks > 10, `${ticks} ticks`);
}));

test('explain runs nothing and says what would run', inContext(async (context) => {
  const decision = context.explain(['true', 'x'], USUAL);
  assert.equal(decision.decision, 'allowed');
  assert.deepEqual(decision.argv.slice(1), ['x']);
  assert.equal(decision.timeoutMs, 60000);
  assert.equal(context.explain(['bash']).outcome, 'disallowed');
  const theirs = byCommand('policy', 'explain', '--json', '--policy', POLICY, '--timeout', '60', '--', 'true', 'x');
  assert.deepEqual(snake(decision), theirs);
}));

test('the policy of a context can be read', inContext(async (context) => {
  assert.ok(JSON.stringify(context.policy()).includes('say_args'));
}));

test('a policy that cannot be loaded is an error of the constructor', () => {
  assert.throws(() => new Context({ policy: '/dev/null' }), (error) => error instanceof ChokepointError && error.outcome === 'policy');
  assert.throws(() => new Context({ policy: '/does/not/exist' }), ChokepointError);
});

test('the module has a context of its own', async () => {
  assert.equal((await refused(run(['bash']), 'disallowed')).result.outcome, 'disallowed');
  assert.equal(explain(['bash']).decision, 'refused');
  await refused(stream(['bash']).result, 'disallowed');
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.equal(credentialKind('hello'), null);
  assert.match(credentialKind(`ghp_${'a1B2'.repeat(9)}`), /GitHub/);
});
