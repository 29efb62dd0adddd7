/** Records of replication itself that a disk has damaged, or that a newer version wrote. */
import { startNats } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { admit, findDeviations, put, startPrimary, startSecondary } from './cluster.ts';

const DAMAGES = [
  ['damaged', 'no JSON'],
  ['of a newer version', 'v9 {}'],
] as const;

test.for(DAMAGES)(
  'those that are written all the time and are %s hinder nothing',
  async ([, text]) => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    const running = primary.publish();
    const identity = await admit(primary, 'one');
    await using secondary = await startSecondary(nats.url, primary, identity);
    await put(primary.store, { 'shared/before': 'the damage' });
    await secondary.untilCaughtUp(primary);
    await secondary.until(({ heartbeat }) => heartbeat !== undefined);

    const own = 'node/replication/own-log/performance';
    const beat = 'node/replication/heartbeats/performance/pki/one';
    await running.stop();
    await put(primary.store, { [own]: text, [beat]: text });
    primary.publish();
    const kept = ['followed', 'followers', 'requests', 'epochs'];
    const paths = kept.map((one) => `node/replication/${one}/pki`);
    await put(secondary.store, Object.fromEntries(paths.map((path) => [path, text])));
    await secondary.restart();
    await put(primary.store, { 'shared/after': 'the damage' });
    await secondary.untilCaughtUp(primary);

    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect(await secondary.secondary.sharedStatus()).toMatchObject({ state: 'stream-wals' });
    expect(await primary.primary.secondaries()).toEqual([expect.objectContaining({ id: 'one' })]);
  },
);
