/** chokepoint for Node: runs tools by a reviewed policy, in a jail. docs/node.md is the manual. */

/** Text for a tool or a path. Bytes need not be UTF-8. Neither may have a NUL in it. */
export type Text = string | Uint8Array;

/** How a run ended. The names are stable. */
export type Outcome =
  | 'exited' | 'signaled' | 'timeout' | 'cancelled' | 'disallowed' | 'tool_missing' | 'invalid' | 'cwd' | 'env_forbidden'
  | 'jail_unavailable' | 'policy' | 'spawn_failed';

export interface RequestOptions {
  /** The repository; no path of the call may leave it. Default: the working directory. */
  root?: Text | URL;
  /** A relative path is taken from root. Default: root itself. */
  cwd?: Text | URL;
  /** Milliseconds. Default: the limit of the tool's entry in the policy. */
  timeout?: number;
  /** Variables for the tool, of those that its entry grants. Nothing is inherited. */
  env?: Readonly<Record<string, string>>;
  /** What the tool reads from stdin. */
  input?: string | Uint8Array;
  /** A descriptor that the tool reads from, instead of input. */
  stdin?: number;
  /** Hosts that the tool may reach, within what its entry lists. */
  egress?: readonly string[];
  /** Makes it a "run external", under this name. */
  probe?: string;
  jail?: 'default' | 'auto' | 'native' | 'bwrap' | 'none';
  /** No jail, or only a part of one, is an error. */
  requireJail?: boolean;
  /** For code that a model or a repository wrote. */
  sandbox?: boolean;
  /** Bytes of each stream that are kept. Default: 64 MiB. */
  maxOutput?: number;
  /** Over the cap, also keep this number of bytes of the beginning. */
  keepHead?: number;
  /** A directory for what the tool wrote, if its workspace is an overlay. */
  keep?: Text | URL;
  /** Name everything that the jail refuses. */
  why?: boolean;
}

export interface RunOptions extends RequestOptions {
  /** Reject if the tool ends with another status than 0, or by a signal. */
  check?: boolean;
  /** Aborting it kills the tool and everything that it started. */
  signal?: AbortSignal;
}

export interface StreamOptions extends RunOptions {
  /** The tool waits while this number of bytes has not been read. Default: 1 MiB. */
  highWaterMark?: number;
}

/** text, or base64 if the bytes are not UTF-8; neither after a stream. */
export interface Captured {
  text?: string;
  base64?: string;
  /** What the tool wrote, as far as it was read. */
  bytes: number;
  /** There is less here than the tool wrote. */
  truncated: boolean;
  /** The bytes that are kept; not enumerable; undefined after a stream. */
  readonly data?: Buffer;
}

/** A string, or an object if the bytes are not UTF-8. */
export type Bytes = string | { base64: string };

/** The object of `chokepoint run --json`, in camelCase: docs/run.schema.json describes each member. */
export interface Result {
  outcome: Outcome;
  exitCode: number | null;
  signal: number | null;
  stdout: Captured;
  stderr: Captured;
  outputIncomplete: boolean;
  durationMs: number;
  userMs: number;
  systemMs: number;
  maxRssKib: number;
  jail: 'none' | 'native' | 'bwrap' | 'seatbelt' | null;
  layers: string[];
  kill: 'pidns' | 'cgroup' | 'subreaper' | 'pgroup' | null;
  tool: { name: string | null; path: Bytes | null };
  rule: string | null;
  error: { code: Outcome; message: string } | null;
  limits: { name: string; value: number; mechanism: string | null }[];
  limitHit: 'oom' | 'pids' | 'cpu' | 'fsize' | 'egress' | null;
  changes: Change[] | null;
  changesIncomplete: boolean;
  keptIncomplete: boolean;
  egress: { rules: string[]; allowed: number; refused: number; failed: number; sentBytes: number; receivedBytes: number } | null;
  unrecorded: boolean;
  workspaceCode: boolean;
  loopback: boolean;
  denied: Denial[] | null;
  deniedMore: number;
  /** Of a run without a network: what its entry would have let it ask for. */
  egressOffer: string[] | null;
}

export interface Change {
  path: Bytes;
  kind: 'added' | 'modified' | 'deleted' | 'mode';
  type: 'file' | 'dir' | 'link' | 'other';
  runsLater: string | null;
}

export interface Denial {
  kind: 'exec' | 'map' | 'open' | 'write' | 'connect';
  path: string;
  by: string;
  errno: number;
  add: string | null;
}

/** The object of `chokepoint policy explain --json`, in camelCase. */
export interface Decision {
  decision: 'allowed' | 'refused';
  outcome: Outcome | null;
  rule: string | null;
  tool: { name: string | null; path: Bytes | null };
  argv: Bytes[];
  env: Bytes[];
  root: Bytes | null;
  cwd: Bytes | null;
  timeoutMs: number | null;
  jail: string | null;
  layers: string[];
  mounts: Bytes[];
  jailArgv: Bytes[];
  egress: string[];
  error: { code: Outcome; message: string } | null;
  workspaceCode: boolean;
  loopback: boolean;
  /** The proxy of the site that connections would go through. */
  via: string | null;
}

/** A run that was refused, ended by chokepoint, or could not be made. */
export class ChokepointError extends Error {
  readonly name: 'ChokepointError';
  /** 'ABORT_ERR' if the signal of the caller ended it; then `cause` is the reason of the signal. */
  readonly code: 'ERR_CHOKEPOINT' | 'ABORT_ERR';
  /** null if the call itself could not be made; then errno may say why. */
  readonly outcome: Outcome | null;
  /** Not enumerable. null if nothing was judged. */
  readonly result: Result | null;
  readonly errno: number | null;
  private constructor();
}

export interface Chunk {
  stream: 'stdout' | 'stderr';
  data: Buffer;
}

/** The output of a run while it arrives. Leaving the loop ends the run. */
export interface Stream extends AsyncIterableIterator<Chunk> {
  /** Settles as run() does; its output has neither text nor base64. */
  readonly result: Promise<Result>;
  return(value?: unknown): Promise<IteratorResult<Chunk>>;
}

export interface Event {
  level: 'debug' | 'info' | 'warning';
  /** 'subproc.started', ...: include/chokepoint.h lists names and fields. */
  name: string;
  fields: Record<string, string>;
}

export interface ContextOptions {
  /** The policy file. Default: the machine's, else the embedded one. */
  policy?: Text | URL;
  /** The audit log; false: none, which a locked policy refuses. */
  audit?: Text | URL | false;
  auditSync?: 'batched' | 'every' | 'none';
  auditMaxBytes?: number;
  onEvent?: (event: Event) => void;
  /** Default: 'info'. */
  eventLevel?: 'debug' | 'info' | 'warning';
}

/** A policy and what runs by it. Many runs share one context. */
export class Context {
  /** Throws ChokepointError with outcome 'policy' if the policy cannot be loaded. */
  constructor(options?: ContextOptions);
  /** Resolves if the tool ended by itself, whatever its status (see check). */
  run(argv: readonly Text[], options?: RunOptions): Promise<Result>;
  stream(argv: readonly Text[], options?: StreamOptions): Stream;
  /** What a run would do. Nothing is run, but a jail that is needed for the first time is proven. */
  explain(argv: readonly Text[], options?: RequestOptions): Decision;
  /** The policy, as `chokepoint policy show --json` prints it. */
  policy(): unknown;
  /** Ends every run and waits for its end. */
  close(): Promise<void>;
}

/** The same with a context that the module has: the machine's policy or the embedded one. */
export function run(argv: readonly Text[], options?: RunOptions): Promise<Result>;
export function stream(argv: readonly Text[], options?: StreamOptions): Stream;
export function explain(argv: readonly Text[], options?: RequestOptions): Decision;

/** What kind of credential the text has in it, 'a GitHub token'; or null. */
export function credentialKind(text: string): string | null;

/** Of the library. */
export const version: string;
