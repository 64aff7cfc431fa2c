// The output of a run while it arrives, as an async iterable of { stream, data }.
//
// At highWaterMark bytes that were not read, the addon pauses the job, and the tool waits. A chunk counts as read when
// next() hands it out. Leaving the loop (return) cancels the run and waits for its end.
'use strict';

const NAMES = ['', 'stdout', 'stderr'];

class Stream {
  #chunks = [];
  #waiting = [];   // of calls of next() without a chunk
  #ending = null;  // { error } after the end of the run
  #consumed;
  #cancel;
  #read = { stdout: 0, stderr: 0 };
  #left = false;   // return() was called

  // consumed(bytes) and cancel() reach the job; both are harmless after its end.
  constructor(consumed, cancel) {
    this.#consumed = consumed;
    this.#cancel = cancel;
    Object.defineProperty(this, 'result', { value: null, writable: true, enumerable: true });
  }

  static parts(stream) {
    return {
      push: (number, data) => stream.#push({ stream: NAMES[number], data }),
      end: (error) => stream.#end(error),
      read: stream.#read,
    };
  }

  #push(chunk) {
    this.#read[chunk.stream] += chunk.data.length;
    if (this.#left) return;
    const next = this.#waiting.shift();
    if (next === undefined) this.#chunks.push(chunk);
    else next.resolve(this.#hand(chunk));
  }

  #hand(chunk) {
    this.#consumed(chunk.data.length);
    return { value: chunk, done: false };
  }

  #end(error) {
    this.#ending = { error };
    for (const next of this.#waiting.splice(0)) this.#finish(next);
  }

  // The error is thrown once; after it the iteration is over.
  #finish(next) {
    const { error } = this.#ending;
    this.#ending = { error: null };
    if (error !== null && !this.#left) next.reject(error);
    else next.resolve({ value: undefined, done: true });
  }

  next() {
    return new Promise((resolve, reject) => {
      if (this.#chunks.length > 0) resolve(this.#hand(this.#chunks.shift()));
      else if (this.#left) resolve({ value: undefined, done: true });
      else if (this.#ending !== null) this.#finish({ resolve, reject });
      else this.#waiting.push({ resolve, reject });
    });
  }

  async return(value) {
    this.#left = true;
    this.#chunks = [];
    for (const next of this.#waiting.splice(0)) next.resolve({ value: undefined, done: true });
    this.#cancel();
    await this.result.catch(() => {});
    return { value, done: true };
  }

  async throw(error) {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

module.exports = { Stream };
