// Compiled, not run: what the types must accept and refuse.
import { ChokepointError, Context, credentialKind, explain, run, stream, version } from 'chokepoint';
import type { Captured, Decision, Outcome, Result, Stream } from 'chokepoint';

export async function accepted(signal: AbortSignal): Promise<void> {
  const result: Result = await run(['git', Buffer.from('log')], { root: new URL('file:///'), timeout: 5000, signal, check: true });
  const outcome: Outcome = result.outcome;
  const { text, base64, bytes, truncated, data }: Captured = result.stdout;
  const length: number = (data?.length ?? 0) + (text ?? base64 ?? '').length + bytes + Number(truncated);
  const output: Stream = stream(['git'] as const, { highWaterMark: length });
  for await (const { stream: name, data: chunk } of output) console.log(name === 'stderr', chunk.toString('hex'), outcome);
  await output.result;
  const context = new Context({ policy: 'p.yaml', audit: false, onEvent: ({ level, name, fields }) => console.log(level, name, fields['tool']) });
  const decision: Decision = context.explain(['git'], { jail: 'native' });
  console.log(decision.decision === 'allowed', explain(['git']).rule, credentialKind('x')?.length, version.length, context.policy());
  await context.close();
  try {
    await run(['git']);
  } catch (error) {
    if (error instanceof ChokepointError) console.log(error.outcome === 'timeout', error.result?.stderr.text, error.code === 'ABORT_ERR');
  }
}

export function refused(context: Context): void {
  // @ts-expect-error argv is an array
  void run('git log');
  // @ts-expect-error an argument is text
  void run(['git', 5]);
  // @ts-expect-error milliseconds are a number
  void run(['git'], { timeout: '5s' });
  // @ts-expect-error there is no such option
  void run(['git'], { requireJial: true });
  // @ts-expect-error no such jail
  void context.run(['git'], { jail: 'prison' });
  // @ts-expect-error a policy belongs to a context
  void context.run(['git'], { policy: 'p.yaml' });
  // @ts-expect-error only streams have a mark
  void context.run(['git'], { highWaterMark: 1 });
  // @ts-expect-error errors are made by the library
  void new ChokepointError('x');
}
