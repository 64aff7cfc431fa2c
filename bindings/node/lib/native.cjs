// Loads the addon of this machine. Nothing is searched for, and no variable changes what is loaded.
'use strict';

const path = require('node:path');

function load() {
  const name = `${process.platform}-${process.arch}`;
  const file = path.join(__dirname, '..', 'prebuilds', name, 'chokepoint-node.node');
  try {
    return require(file);
  } catch (error) {
    throw new Error(`cannot load chokepoint for '${name}': ${error.message}; the package has addons for Linux with ` +
      'glibc 2.36 or later', { cause: error });
  }
}

module.exports = load();
