/**
 * What `make up` runs: `main.ts` with a cache of compiled code and a small young generation. Plain
 * JavaScript, because the cache also holds modules with their types removed: with all of them in it, the
 * remover is never loaded, and a start takes less time and some 20 MB less memory.
 */
import { existsSync } from 'node:fs';
// Not by name: a Node without it would refuse to load this file, and say so in its own words.
import * as modules from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `keelson cannot start: it needs Node 24.12 or newer, this is ${process.versions.node}. ` +
      'After npm install, `make up`, `npm start` and node_modules/node/bin/node are one that fits.\n',
  );
  process.exit(1);
}

// The default of config.ts; a different one there would cost the cache and nothing else.
// oxlint-disable-next-line node/no-process-env -- a main file
const dataFolder = process.env.KEELSON_DATA_DIR ?? './data';
// Kept with the data: in a shared temporary folder others could replace the code. Not before the folder
// exists, because `--help` and refused settings must not make one.
if (existsSync(dataFolder)) modules.enableCompileCache(join(dataFolder, 'compile-cache'));

// What a start loads stays, for which V8 would let the young generation grow as far as it may, and an idle
// process does not give that back (decision 0095). It grows once, for what is kept here for a moment: a
// start in the 2 MB that V8 begins with collects too often. `main.ts` lets it grow again.
setFlagsFromString('--semi-space-growth-factor=4');
Array.from({ length: 20_000 }, (_, index) => [index]);
setFlagsFromString('--semi-space-growth-factor=1');

await import('./main.ts');
