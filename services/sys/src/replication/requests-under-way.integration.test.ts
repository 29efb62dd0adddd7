/** Requests that a role change overtakes: they may be repeated, and are not refused for good. */

import { join } from 'node:path';
import { openSqliteStore, type RecordDecoder, type Store } from '@keelson/storage';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { advanceClockUntilSettled } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
/** Set while reads of tokens wait. */
let pause: { readonly reached: () => void; readonly released: Promise<void> } | undefined;

/** A store whose reads of tokens can be made to wait, as they do on a slow disk. */
const slowStore = (store: Store): Store =>
  new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name !== 'readAs') return member.bind(target) as unknown;
      return async <T>(path: string, decoder: RecordDecoder<T>) => {
        const found = await target.readAs(path, decoder);
        if (pause !== undefined && path.startsWith('local/tokens/')) {
          pause.reached();
          await pause.released;
        }
        return found;
      };
    },
  });

beforeEach(async () => {
  pause = undefined;
  harness = await openInitializedSys({
    transport: inProcessTransport(),
    openStore: async (barrier, folder, clock) =>
      slowStore(await openSqliteStore({ file: join(folder, 'sys.sqlite'), barrier, clock })),
  });
});
afterEach(() => harness.close());

const demote = async (): Promise<void> => {
  const { status } = await advanceClockUntilSettled(
    harness,
    harness.asRoot('POST', 'sys/replication/dr/primary/demote'),
  );
  expect(status).toBe(200);
};

test('a token with limited uses, while its primary is demoted', async () => {
  await harness.asRoot('POST', 'sys/replication/dr/primary/enable');
  const body = { policies: ['default'], num_uses: 5 };
  const created = await harness.asRoot('POST', 'auth/token/create', { body });
  const token = created.body.auth.client_token;
  expect((await harness.call('GET', 'auth/token/lookup-self', { token })).status).toBe(200);

  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  pause = { reached: reached.resolve, released: released.promise };
  const asked = harness.call('GET', 'auth/token/lookup-self', { token });
  await reached.promise;
  pause = undefined;
  await demote();
  released.resolve();
  const { status, body: answer } = await asked;
  expect([status, answer.errors]).toEqual([503, [expect.stringContaining('role')]]);
});

test('an answer that is wrapped after its primary was demoted', async () => {
  await harness.asRoot('POST', 'sys/replication/dr/primary/enable');
  await demote();
  const wrapping = harness.sys.access.wrap({
    ttlSeconds: 60,
    response: Buffer.from('{}'),
    creationPath: 'sys/mounts',
    namespace: { id: 'root', path: '' },
    wrappedAccessor: '',
    wrapFormat: '',
    apiAddress: '',
  });
  await expect(wrapping).rejects.toMatchObject({ code: 'replication.switching' });
});

test('a request that begins while its primary is being demoted', async () => {
  await harness.asRoot('POST', 'sys/replication/dr/primary/enable');
  // The demotion waits, by the clock, for the other services.
  const demoting = harness.asRoot('POST', 'sys/replication/dr/primary/demote');
  const lookUp = async () => (await harness.asRoot('GET', 'auth/token/lookup-self')).status;
  await expect.poll(lookUp).toBe(503);
  expect((await advanceClockUntilSettled(harness, demoting)).status).toBe(200);
});
