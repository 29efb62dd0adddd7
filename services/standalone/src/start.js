/**
 * What `make up` runs: `main.ts` with a cache of compiled code. Plain JavaScript, because the cache also
 * holds modules with their types removed: with all of them in it, the remover is never loaded, and a
 * start takes less time and some 20 MB less memory.
 */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// The default of config.ts; a different one there would cost the cache and nothing else.
// oxlint-disable-next-line node/no-process-env -- a main file
const dataFolder = process.env.KEELSON_DATA_DIR ?? './data';
// Kept with the data: in a shared temporary folder others could replace the code. Not before the folder
// exists, because `--help` and refused settings must not make one.
if (existsSync(dataFolder)) enableCompileCache(join(dataFolder, 'compile-cache'));

await import('./main.ts');
