// node-run-command.mjs - the run_command tool of an agent: what the model asks for, and what it gets as the answer.
//
// The model chooses arguments, and nothing else: the root, the time and the amount of output are the program's. A refusal is
// an answer like any other, which says what would be allowed, so that the model can try again.
import { ChokepointError, run } from 'chokepoint';

export const definition = {
  name: 'run_command',
  description: 'Runs a command in the repository. It is not a shell: no pipes, no variables. Only some tools are allowed.',
  input_schema: {
    type: 'object', required: ['argv'], additionalProperties: false,
    properties: { argv: { type: 'array', items: { type: 'string' }, minItems: 1 } },
  },
};

function shown({ text, truncated, bytes }) {
  return { text: text ?? `(${bytes} bytes that are not text)`, truncated };
}

export async function runCommand(root, input, signal) {
  try {
    const result = await run(input.argv, { root, requireJail: true, timeout: 60_000, maxOutput: 32_768, keepHead: 8_192, signal });
    return { status: result.exitCode ?? 128 + result.signal, stdout: shown(result.stdout), stderr: shown(result.stderr) };
  } catch (error) {
    if (error.code === 'ABORT_ERR') throw error; // the user stopped the agent
    if (error instanceof TypeError) return { error: 'invalid', message: error.message };
    if (!(error instanceof ChokepointError)) throw error;
    return { error: error.outcome, message: error.message };
  }
}

// Tried by hand: node node-run-command.mjs '{"argv": ["git", "status"]}'
if (process.argv[2] !== undefined) {
  console.log(JSON.stringify(await runCommand('.', JSON.parse(process.argv[2]))));
}
