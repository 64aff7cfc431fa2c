// The package for Node beside execFile and execa, in one program: the line protocol of bench-worker, "SIDE COUNT".
import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Context } from 'chokepoint';
import { execa } from 'execa';

const [policy, root, program, env] = process.argv.slice(2);
const context = new Context({ policy });
const execFilePromise = promisify(execFile);
const settings = { env: JSON.parse(env), cwd: root, timeout: 60000 };

const ONE = {
  execFile: () => execFilePromise(program, [], settings),
  execa: () => execa(program, [], { ...settings, extendEnv: false, stdin: 'ignore' }),
  jailed: () => context.run(['true'], { root, timeout: 60000, jail: 'native', check: true }),
};

async function batch(side, count) {
  const [name, many] = side.split('_');
  if (many !== undefined) {
    await Promise.all(Array.from({ length: count }, ONE[name]));
    return;
  }
  for (let i = 0; i < count; i++) await ONE[name]();
}

console.log('{"ready": true}');
for await (const line of createInterface({ input: process.stdin })) {
  const [side, count] = line.split(' ');
  const start = process.hrtime.bigint();
  await batch(side, Number(count));
  console.log(JSON.stringify({ runs: Number(count), wall_ns: Number(process.hrtime.bigint() - start) }));
}
await context.close();
