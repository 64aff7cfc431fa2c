// A context: a policy, and everything that runs by it.
'use strict';

const native = require('./native.cjs');
const { ChokepointError, calling, errorOf } = require('./error.cjs');
const { readContext, readRun, RUN, STREAM } = require('./options.cjs');
const { resultOf } = require('./result.cjs');
const { Stream } = require('./stream.cjs');

const BUDGET_US = 5000;             // of one dispatch: other work of the program comes between
const HIGH_WATER_BYTES = 1 << 20;
const LEAST_OUTPUT_BYTES = 18;      // a stream passes its output on, so the library need not keep it
const LEVELS = ['', 'debug', 'info', 'warning'];

// An error of a callback belongs to the program, not to the run that it interrupts.
function callSafely(callback, argument) {
  try {
    callback(argument);
  } catch (error) {
    queueMicrotask(() => { throw error; });
  }
}

class Context {
  #native;
  #jobs = new Map();
  #signals = new Map(); // of jobs that are not finished: signal, set of its jobs
  #lastId = 0;
  #closing = null;  // the promise of close()
  #whenIdle = null; // what close() waits for
  #onEvent;
  #leastLevel;

  constructor(options) {
    const { settings, onEvent, eventLevel } = readContext(options);
    this.#native = calling(() => new native.Context(settings));
    this.#onEvent = onEvent;
    this.#leastLevel = LEVELS.indexOf(eventLevel);
    this.#native.onReadable = () => this.#dispatch();
  }

  run(argv, options) {
    return new Promise((resolve, reject) => {
      const { request, own } = readRun(argv, options, RUN);
      this.#start(request, { ...own, resolve, reject, parts: null }, 0);
    });
  }

  stream(argv, options) {
    const { request, own } = readRun(argv, options, STREAM);
    const { highWaterMark = HIGH_WATER_BYTES, ...rest } = own;
    const job = { ...rest, id: 0 };
    const stream = new Stream((bytes) => this.#consumed(job, bytes), () => this.#cancel(job));
    job.parts = Stream.parts(stream);
    request.maxOutput ??= LEAST_OUTPUT_BYTES;
    stream.result = new Promise((resolve, reject) => Object.assign(job, { resolve, reject }));
    stream.result.catch(() => {}); // the iteration throws it too
    try {
      this.#start(request, job, highWaterMark);
    } catch (error) {
      job.reject(error);
      job.parts.end(error);
    }
    return stream;
  }

  explain(argv, options) {
    const { request } = readRun(argv, options, {});
    this.#checkOpen();
    return calling(() => this.#native.explain(request));
  }

  policy() {
    this.#checkOpen();
    return JSON.parse(calling(() => this.#native.policy()));
  }

  // Ends every run and waits for its end.
  close() {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #checkOpen() {
    if (this.#closing !== null) throw new ChokepointError('the context is closed');
  }

  #start(request, job, highWater) {
    this.#checkOpen();
    const { signal } = job;
    if (signal?.aborted) {
      throw new ChokepointError('the run was aborted before it started', { outcome: 'cancelled', aborted: true, cause: signal.reason });
    }
    job.id = ++this.#lastId;
    this.#jobs.set(job.id, job);
    try {
      const batch = calling(() => this.#native.start(job.id, request, highWater));
      // Not now: onEvent would be called before run() has returned.
      if (batch !== undefined) queueMicrotask(() => this.#report(batch));
    } catch (error) {
      this.#jobs.delete(job.id);
      throw error;
    }
    if (signal !== undefined) this.#listen(signal, job);
  }

  // One listener for all jobs of a signal: Node warns of a signal that has more than ten.
  #listen(signal, job) {
    let jobs = this.#signals.get(signal);
    if (jobs === undefined) {
      jobs = new Set();
      jobs.abort = () => { for (const one of jobs) this.#cancel(one); };
      signal.addEventListener('abort', jobs.abort, { once: true });
      this.#signals.set(signal, jobs);
    }
    jobs.add(job);
  }

  #unlisten(signal, job) {
    const jobs = this.#signals.get(signal);
    if (!jobs?.delete(job) || jobs.size > 0) return;
    signal.removeEventListener('abort', jobs.abort);
    this.#signals.delete(signal);
  }

  #cancel(job) {
    if (this.#jobs.has(job.id)) this.#native.cancel(job.id);
  }

  #consumed(job, bytes) {
    if (this.#jobs.has(job.id)) this.#native.consumed(job.id, bytes);
  }

  #dispatch() {
    try {
      this.#report(calling(() => this.#native.dispatch(BUDGET_US)));
    } catch (error) {
      this.#fail(error);
    }
  }

  // The library cannot do its work any more: no run will report its end.
  #fail(error) {
    for (const job of [...this.#jobs.values()]) this.#settle(job, null, error);
    try {
      this.#native.cancelAll();
    } catch {
      // The first error says why.
    }
  }

  #report(batch) {
    if (batch === undefined) return;
    const { events = [], chunks = [], finished = [] } = batch;
    for (let i = 0; i < events.length; i += 4) this.#event(events[i + 1], events[i + 2], events[i + 3]);
    for (let i = 0; i < chunks.length; i += 3) this.#jobs.get(chunks[i])?.parts.push(chunks[i + 1], chunks[i + 2]);
    for (let i = 0; i < finished.length; i += 2) this.#finish(this.#jobs.get(finished[i]), finished[i + 1]);
  }

  #event(level, name, fields) {
    if (level >= this.#leastLevel) callSafely(this.#onEvent, { level: LEVELS[level], name, fields });
  }

  #finish(job, raw) {
    if (job === undefined) return;
    if (raw === null) {
      this.#settle(job, null, new ChokepointError('the result is too large for this program; give a smaller maxOutput'));
      return;
    }
    const result = resultOf(raw, job.parts?.read);
    this.#settle(job, result, errorOf(result, job));
  }

  #settle(job, result, error) {
    this.#jobs.delete(job.id);
    if (job.signal !== undefined) this.#unlisten(job.signal, job);
    job.parts?.end(error);
    if (error === null) job.resolve(result);
    else job.reject(error);
    if (this.#jobs.size === 0) this.#whenIdle?.();
  }

  async #close() {
    this.#native.cancelAll();
    if (this.#jobs.size > 0) await new Promise((resolve) => { this.#whenIdle = resolve; });
    this.#report(calling(() => this.#native.close()));
  }
}
if (Symbol.asyncDispose) {
  Object.defineProperty(Context.prototype, Symbol.asyncDispose, {
    value() { return this.close(); }, configurable: true, writable: true,
  });
}

module.exports = { Context };
