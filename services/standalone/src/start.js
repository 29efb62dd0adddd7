/**
 * What `make up` runs: `main.ts` with a cache of compiled code and a small young generation. Plain
 * JavaScript, because the cache also holds modules with their types removed: with all of them in it, the
 * remover is never loaded, and a start takes less time and some 20 MB less memory.
 */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

// The default of config.ts; a different one there would cost the cache and nothing else.
// oxlint-disable-next-line node/no-process-env -- a main file
const dataFolder = process.env.KEELSON_DATA_DIR ?? './data';
// Kept with the data: in a shared temporary folder others could replace the code. Not before the folder
// exists, because `--help` and refused settings must not make one.
if (existsSync(dataFolder)) enableCompileCache(join(dataFolder, 'compile-cache'));

// What a start loads stays, for which V8 would let the young generation grow as far as it may, and an idle
// process does not give that back (decision 0095). It grows once, for what is kept here for a moment: a
// start in the 2 MB that V8 begins with collects too often. `main.ts` lets it grow again.
setFlagsFromString('--semi-space-growth-factor=4');
Array.from({ length: 20_000 }, (_, index) => [index]);
setFlagsFromString('--semi-space-growth-factor=1');

await import('./main.ts');
