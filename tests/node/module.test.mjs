// The package as an ES module, and both forms in one program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import all, { ChokepointError, Context, run } from 'chokepoint';

const require = createRequire(import.meta.url);

test('import and require are the same module', () => {
  const common = require('chokepoint');
  assert.equal(common, all);
  assert.equal(common.Context, Context);
  assert.equal(common.run, run);
});

test('nothing else of the package can be reached', () => {
  assert.throws(() => require('chokepoint/lib/native.cjs'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
});

test('a run with an imported context', async () => {
  const context = new Context({ policy: process.env.CHOKE_NODE_POLICY });
  assert.equal((await context.run(['say_args', 'x'], { timeout: 60000 })).stdout.text, 'x\0');
  await assert.rejects(context.run(['bash']), ChokepointError);
  if (Symbol.asyncDispose) await context[Symbol.asyncDispose]();
  else await context.close();
});

test('its libraries come from the package', () => {
  const maps = readFileSync('/proc/self/maps', 'utf8').split('\n').filter((line) => / r-xp /.test(line));
  for (const name of ['libcyaml', 'libyaml-0', 'libsodium', 'libjansson', 'libseccomp']) {
    const paths = maps.filter((line) => line.includes(`/${name}.so`));
    assert.ok(paths.length === 1 && paths[0].includes('/node_modules/chokepoint/prebuilds/'), `${name}: ${paths}`);
  }
  assert.ok(!maps.some((line) => line.includes('/libcares.so')));
});
