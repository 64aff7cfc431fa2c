// The result of a run, from what the addon made of it: the JSON of `chokepoint run --json` in camelCase.
'use strict';

const { isUtf8 } = require('node:buffer');

// text, or base64 if the bytes are not UTF-8. The bytes themselves are `data`, which JSON.stringify leaves out.
function captured({ data, bytes, truncated }) {
  const stream = isUtf8(data) ? { text: data.toString('utf8') } : { base64: data.toString('base64') };
  Object.assign(stream, { bytes, truncated });
  return Object.defineProperty(stream, 'data', { value: data, enumerable: false });
}

// Output was passed on as it arrived, so there is neither. truncated: not all of it was.
function passedOn({ bytes }, read) {
  return { bytes, truncated: read < bytes };
}

// read: bytes that a stream has passed on, by the name of the stream; undefined for an ordinary run.
function resultOf(raw, read) {
  for (const name of ['stdout', 'stderr']) raw[name] = read ? passedOn(raw[name], read[name]) : captured(raw[name]);
  return raw;
}

module.exports = { resultOf };
