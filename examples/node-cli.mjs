// node-cli.mjs [--root DIR] TOOL ARGUMENT... - runs a tool and passes its output on while it arrives.
//
// The status is the tool's own. 124 is a timeout, 125 a refusal, 127 a missing tool, 128+N an end by signal N, 130 Ctrl-C.
import { ChokepointError, stream } from 'chokepoint';

const argv = process.argv.slice(2);
const root = argv[0] === '--root' ? argv.splice(0, 2)[1] : '.';
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());

// A slow reader of ours makes the tool wait.
function pass(to, data) {
  return new Promise((resolve) => to.write(data, resolve));
}

function statusOf(error) {
  if (error.code === 'ABORT_ERR') return 130;
  return { timeout: 124, tool_missing: 127 }[error.outcome] ?? 125;
}

try {
  const run = stream(argv, { root, signal: interrupted.signal });
  for await (const { stream: name, data } of run) await pass(process[name], data);
  const { exitCode, signal } = await run.result;
  process.exitCode = exitCode ?? 128 + signal;
} catch (error) {
  if (!(error instanceof ChokepointError)) throw error;
  console.error(`node-cli: ${error.message}`);
  process.exitCode = statusOf(error);
}
