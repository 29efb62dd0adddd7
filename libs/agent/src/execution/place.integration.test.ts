/** Room on a disk that a run has filled. */
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { leftoverFile, stateFileIn } from '../work-folder.ts';
import { makeRoom, preparePlace, toPlaceFolder } from './place.ts';

test('is made of everything that the run wrote but what its state is recovered from, and through no link', async () => {
  await using directory = await temporaryDirectory();
  const place = toPlaceFolder(join(directory.path, 'places'), 0);
  await mkdir(join(directory.path, 'places'));
  await preparePlace(place, { agentId: 'agent-one' }, {});
  const phase = join(place.run, 'phase');
  const outside = join(directory.path, 'outside');
  const state = stateFileIn(phase, 'network');
  for (const folder of [
    join(phase, 'configuration/modules'),
    join(state, '..'),
    join(outside, 'configuration'),
  ])
    await mkdir(folder, { recursive: true });
  const kept = [state, leftoverFile(phase), join(outside, 'configuration/file')];
  const removed = [
    join(phase, 'configuration/modules/filled'),
    join(place.home, 'filled'),
    join(place.temporary, 'filled'),
  ];
  for (const file of [...kept, ...removed]) await writeFile(file, 'x');
  await symlink(outside, join(place.run, 'link'));
  await symlink(join(outside, 'configuration'), join(place.run, 'configuration'));
  await makeRoom(place);
  expect(kept.map(existsSync)).toEqual(kept.map(() => true));
  expect(removed.map(existsSync)).toEqual(removed.map(() => false));
});
