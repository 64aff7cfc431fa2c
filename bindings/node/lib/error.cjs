// The error of a run that was refused, ended by chokepoint, or could not be made.
'use strict';

class ChokepointError extends Error {
  constructor(message, { outcome = null, result = null, errno = null, aborted = false, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = aborted ? 'ABORT_ERR' : 'ERR_CHOKEPOINT';
    this.outcome = outcome;
    this.errno = errno;
    // Not enumerable: a logged error must not print all output of a tool.
    Object.defineProperty(this, 'result', { value: result, enumerable: false });
  }
}
Object.defineProperty(ChokepointError.prototype, 'name', { value: 'ChokepointError', configurable: true, writable: true });

// Calls the addon. Its failures become ChokepointError; a TypeError stays one.
function calling(call) {
  try {
    return call();
  } catch (error) {
    if (error.code !== 'ERR_CHOKEPOINT' || error instanceof ChokepointError) throw error;
    throw new ChokepointError(error.message, { outcome: error.outcome, errno: error.errno });
  }
}

// The error for a result, or null if the run counts as one that succeeded.
function errorOf(result, { check, signal }) {
  if (result.outcome === 'exited') {
    if (!check || result.exitCode === 0) return null;
    return new ChokepointError(`'${result.tool.name}' exited with ${result.exitCode}`, { outcome: 'exited', result });
  }
  if (result.outcome === 'signaled' && !check) return null;
  const aborted = result.outcome === 'cancelled' && signal?.aborted === true;
  const message = result.error?.message ?? `'${result.tool.name}' ended as '${result.outcome}'`;
  return new ChokepointError(message, { outcome: result.outcome, result, aborted, cause: aborted ? signal.reason : undefined });
}

module.exports = { ChokepointError, calling, errorOf };
