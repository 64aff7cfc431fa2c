// The same for import. There is one copy of everything, whoever loads it first.
import chokepoint from './index.cjs';

export const { ChokepointError, Context, credentialKind, explain, run, stream, version } = chokepoint;
export default chokepoint;
