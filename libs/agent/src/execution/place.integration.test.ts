/** Room on a disk that a run has filled. */
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { leftoverFile, stateFileIn } from '../work-folder.ts';
import { keepState, makeRoom, preparePlace, toPlaceFolder } from './place.ts';

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

test.for(['the state', 'its folder', 'all states'])(
  'no state is kept through a link in the place of %s',
  async (linked) => {
    await using directory = await temporaryDirectory();
    const place = toPlaceFolder(join(directory.path, 'places'), 0);
    await mkdir(join(directory.path, 'places'));
    await preparePlace(place, { agentId: 'agent-one' }, {});
    const applied = { runId: 'run-one', workspaceName: 'network' };
    const phase = join(place.run, 'phases', 'run-one');
    const outside = join(directory.path, 'outside');
    const secret = join(outside, 'network/terraform.tfstate');
    await mkdir(join(secret, '..'), { recursive: true });
    await mkdir(phase, { recursive: true });
    await writeFile(leftoverFile(phase), '{}');
    await writeFile(secret, 'secret');
    const states = join(phase, 'states');
    if (linked === 'all states') await symlink(outside, states);
    else await mkdir(states);
    if (linked === 'its folder') await symlink(join(secret, '..'), join(states, 'network'));
    if (linked === 'the state') {
      await mkdir(join(states, 'network'));
      await symlink(secret, join(states, 'network/terraform.tfstate'));
    }
    expect(await keepState(place, applied)).toBeUndefined();
    expect(existsSync(secret)).toBe(true);
  },
);
