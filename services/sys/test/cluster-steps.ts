/** Operator steps shared by several tests, for clusters with one key share. */
import { expect } from 'vitest';
import type { SysHarness } from './sys-harness.ts';

/** The token of the ceremony at `path`, made with one share of the applicable key. */
export const ceremonyToken = async (
  cluster: SysHarness,
  path: string,
  key: string,
): Promise<string> => {
  const { body: started } = await cluster.call('POST', `${path}/attempt`);
  const { body } = await cluster.call('POST', `${path}/update`, {
    body: { key, nonce: started.nonce },
  });
  const mixed = Buffer.from(body.encoded_token, 'base64');
  return Buffer.from(mixed.map((byte, at) => byte ^ started.otp.charCodeAt(at))).toString();
};

export const operationToken = (cluster: SysHarness, key: string): Promise<string> =>
  ceremonyToken(cluster, 'sys/replication/dr/secondary/generate-operation-token', key);

/** Makes `primary` found a set, and another cluster follow it. */
export const joinSet = async (
  kind: 'performance' | 'dr',
  primary: SysHarness,
  secondary: { readonly cluster: SysHarness; readonly root: string },
  primaryClusterAddress = '',
): Promise<void> => {
  const base = `sys/replication/${kind}`;
  const { cluster, root: token } = secondary;
  await primary.asRoot('POST', `${base}/primary/enable`, {
    body: { primary_cluster_addr: primaryClusterAddress },
  });
  const made = await cluster.call('POST', `${base}/secondary/generate-public-key`, { token });
  const issued = await primary.asRoot('POST', `${base}/primary/secondary-token`, {
    body: { id: 'two', secondary_public_key: made.body.data.secondary_public_key },
  });
  expect(issued.body.wrap_info).toBeNull();
  const enabled = await cluster.call('POST', `${base}/secondary/enable`, {
    token,
    body: { token: issued.body.data.token },
  });
  expect(enabled.status).toBe(200);
};

/** Advances the clock of a cluster until `asked` settles: a primary that steps back waits by its clock. */
export const advanceClockUntilSettled = async <T>(
  cluster: SysHarness,
  asked: Promise<T>,
): Promise<T> => {
  let isThere = false;
  const done = asked.finally(() => {
    isThere = true;
  });
  done.catch(() => undefined);
  while (!isThere) {
    cluster.clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return done;
};

/** Waits until the record is there, or is gone, as the log of the store tells. */
export const untilRecord = async (
  { store }: SysHarness,
  path: string,
  isThere: boolean,
): Promise<void> => {
  const position = await store.wal.headSequence();
  const isOver = async () => ((await store.read(path)) !== undefined) === isThere;
  if (await isOver()) return;
  for await (const _ of store.wal.follow(position, new AbortController().signal))
    if (await isOver()) return;
};
