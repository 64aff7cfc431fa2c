// How a program and a worker thread end: nothing is left running, and nothing keeps them.
'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const path = require('node:path');
const test = require('node:test');
const { Worker } = require('node:worker_threads');
const { marked, until } = require('./support.cjs');

const SUPPORT = path.join(__dirname, 'support.cjs');
const CODE = `const { Context, POLICY, USUAL, marked, until } = require(${JSON.stringify(SUPPORT)});`;
const worker = (code, data) => new Worker(`${CODE}\nconst { workerData, parentPort } = require('node:worker_threads');\n${code}`,
  { eval: true, workerData: data });

// Runs a program; resolves to its end. started: what to do when it says something.
function program(code, started = () => {}) {
  const child = spawn(process.execPath, ['-e', `${CODE}\n${code}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (data) => { said.out += data; started(child); });
  child.stderr.on('data', (data) => { said.err += data; });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...said })));
}

test('an idle context does not keep the program', async () => {
  const end = await program(`const c = new Context({ policy: POLICY }); c.run(['true'], USUAL).then(() => console.log('done'));`);
  assert.deepEqual([end.code, end.out], [0, 'done\n'], end.err);
});

test('a run keeps the program until its end', async () => {
  const end = await program(`new Context({ policy: POLICY }).run(['sleep', '0.5'], USUAL).then((r) => console.log(r.exitCode));`);
  assert.deepEqual([end.code, end.out], [0, '0\n'], end.err);
});

test('an error of onEvent is the program\'s, and the run is not lost', async () => {
  const end = await program(`process.on('uncaughtException', (error) => console.log(error.message));
    const c = new Context({ policy: POLICY, onEvent: ({ name }) => { throw new Error(name); } });
    c.run(['true'], USUAL).then((r) => console.log(r.exitCode));`);
  assert.equal(end.code, 0, end.err);
  assert.deepEqual(end.out.trim().split('\n').sort(), ['0', 'subproc.exited', 'subproc.started']);
});

const RUNS = (marker) => `const c = new Context({ policy: POLICY });
  for (let i = 0; i < 20; i++) c.run(['ignore_signals', '${marker}'], USUAL).catch(() => {});
  const running = until(() => marked('${marker}').length >= 20, 'they run');`;

for (const [how, code, expected] of [
  ['process.exit', 'process.exit(3)', { code: 3, signal: null }],
  ['an uncaught error', 'throw new Error("x")', { code: 1, signal: null }],
  ['process.abort', 'process.abort()', { code: null, signal: 'SIGABRT' }],
  ['SIGKILL', 'process.kill(process.pid, "SIGKILL")', { code: null, signal: 'SIGKILL' }],
]) {
  test(`nothing is left after ${how} with runs in flight`, async () => {
    const marker = `marker-${process.pid}-${how}`;
    const end = await program(`${RUNS(marker)} running.then(() => { setImmediate(() => { ${code} }); });`);
    assert.deepEqual({ code: end.code, signal: end.signal }, expected, end.err);
    await until(() => marked(marker).length === 0, 'all are killed');
  });
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`nothing is left after ${signal}`, async () => {
    const marker = `marker-${process.pid}-${signal}`;
    const end = await program(`${RUNS(marker)} running.then(() => console.log('ready'));`, (child) => child.kill(signal));
    assert.equal(end.signal, signal, end.err);
    await until(() => marked(marker).length === 0, 'all are killed');
  });
}

test('workers have a context each', async () => {
  const workers = Array.from({ length: 4 }, (_, i) => worker(`
    const c = new Context({ policy: POLICY });
    Promise.all(Array.from({ length: 25 }, (_, j) => c.run(['say_args', workerData + '.' + j], USUAL)))
      .then((all) => parentPort.postMessage(all.map((r) => r.stdout.text).join('')));`, String(i)));
  const ends = await Promise.all(workers.map((one) => new Promise((resolve, reject) => {
    let text = '';
    one.on('message', (said) => { text += said; });
    one.on('error', reject);
    one.on('exit', (code) => resolve({ code, text }));
  })));
  ends.forEach((end, i) => assert.deepEqual(end, { code: 0, text: Array.from({ length: 25 }, (_, j) => `${i}.${j}\0`).join('') }));
});

test('a worker can be terminated at any moment', async () => {
  const marker = `marker-${process.pid}-worker`;
  for (let i = 0; i < 12; i++) {
    const one = worker(`
      const c = new Context({ policy: POLICY, onEvent: () => {}, eventLevel: 'debug' });
      const more = () => c.run(['true'], USUAL).then(more, () => {});
      for (let i = 0; i < 8; i++) more();
      (async () => { for await (const x of c.stream(['yes'], USUAL)) parentPort.postMessage('go'); })().catch(() => {});
      c.run(['ignore_signals', workerData], USUAL).catch(() => {});`, marker);
    await new Promise((resolve) => one.once('message', resolve));
    await new Promise((resolve) => setTimeout(resolve, i * 3));
    await one.terminate();
  }
  await until(() => marked(marker).length === 0, 'all are killed');
});

test('a worker can be terminated before its context has run anything', async () => {
  const one = worker(`globalThis.c = new Context({ policy: POLICY }); parentPort.postMessage('go'); setInterval(() => {}, 1000);`);
  await new Promise((resolve) => one.once('message', resolve));
  await one.terminate();
});

test('a worker that exits with runs in flight leaves nothing', async () => {
  const marker = `marker-${process.pid}-exit`;
  const one = worker(`${RUNS(marker)} running.then(() => process.exit(5));`);
  assert.equal(await new Promise((resolve) => one.on('exit', resolve)), 5);
  await until(() => marked(marker).length === 0, 'all are killed');
});
