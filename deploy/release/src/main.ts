/** `make release`: everything of one version in `dist/`. Two runs for the same commit write the same bytes. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { release } from './release.ts';
import { REPOSITORY } from './repository.ts';

const folder = join(REPOSITORY, 'dist');
await rm(folder, { recursive: true, force: true });
await mkdir(folder);
for (const line of await release(folder)) console.log(line);
