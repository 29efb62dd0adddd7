/** `make release`: everything of one version in `dist/`. Two runs for the same commit write the same bytes. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { maintainerFrom } from './debian-package.ts';
import { release } from './release.ts';
import { REPOSITORY, releaseTime } from './repository.ts';

const folder = join(REPOSITORY, 'dist');
await rm(folder, { recursive: true, force: true });
await mkdir(folder);
const time = await releaseTime(process.env['SOURCE_DATE_EPOCH']);
const maintainer = maintainerFrom(process.env);
for (const line of await release(folder, time, maintainer)) console.log(line);
