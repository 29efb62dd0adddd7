/** Clusters with either seal follow each other; the primary's shares apply, before and after a rekey. */
import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { temporaryDirectory } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const WITHIN_MS = 60_000;
type SealType = 'shamir' | 'static';

const openCluster = async (
  seal: SealType,
  transport: ReplicationTransport,
  folder: string,
): Promise<SysHarness> => {
  const unsealKeyFile = join(folder, `${randomBytes(4).toString('hex')}.key`);
  if (seal === 'static') {
    await writeFile(unsealKeyFile, randomBytes(32).toString('base64'));
    await chmod(unsealKeyFile, 0o600);
  }
  const harness = await openSysHarness({
    transport,
    ...(seal === 'static' && { config: { unsealKeyFile } }),
  });
  return harness;
};

const ONE_TIME_PASSWORD = 'p'.repeat(28);

/** A root token made with one share; undefined when the share is not valid for the cluster. */
const generateRoot = async (cluster: SysHarness, key: string): Promise<string | undefined> => {
  const attempt = 'sys/generate-root/attempt';
  // A share that was refused leaves its attempt to the next one.
  await cluster.call('POST', attempt, { body: { otp: ONE_TIME_PASSWORD } });
  const { nonce } = (await cluster.call('GET', attempt)).body;
  const { body } = await cluster.call('POST', 'sys/generate-root/update', { body: { key, nonce } });
  if (body?.complete !== true) return undefined;
  const decoded = await cluster.call('POST', 'sys/decode-token', {
    body: { encoded_token: body.encoded_token, otp: ONE_TIME_PASSWORD },
  });
  return decoded.body.data.token;
};

const accepts = async (cluster: SysHarness, key: string): Promise<boolean> =>
  (await generateRoot(cluster, key)) !== undefined;

/** Seals the cluster, then tries these shares in order. */
const reopen = async (cluster: SysHarness, keys: readonly [string, string]) => {
  const token = (await generateRoot(cluster, keys[1])) ?? '';
  await cluster.call('POST', 'sys/seal', { token });
  const opened: boolean[] = [];
  for (const key of keys) {
    await cluster.sys.seal.unseal(key).catch(() => undefined);
    opened.push(!(await cluster.sys.seal.status()).sealed);
  }
  return opened;
};

const until = async (ask: () => Promise<boolean>): Promise<void> => {
  while (!(await ask())) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** Replaces the only share and returns the new one. */
const rekey = async (cluster: SysHarness, seal: SealType, key: string): Promise<string> => {
  const path = seal === 'shamir' ? 'sys/rekey' : 'sys/rekey-recovery-key';
  const started = await cluster.asRoot('POST', `${path}/init`, {
    body: { secret_shares: 1, secret_threshold: 1 },
  });
  const { body } = await cluster.asRoot('POST', `${path}/update`, {
    body: { key, nonce: started.body.nonce ?? started.body.data.nonce },
  });
  const [renewed] = body.keys ?? body.data.keys;
  return renewed;
};

describe.for([
  ['shamir', 'shamir'],
  ['shamir', 'static'],
  ['static', 'shamir'],
  ['static', 'static'],
] as const)('a %s primary and a %s secondary', ([ofPrimary, ofSecondary]) => {
  test('use the shares of the primary, also after they were replaced', {
    timeout: WITHIN_MS,
  }, async () => {
    await using folder = await temporaryDirectory();
    const transport = inProcessTransport();
    const primary = await openCluster(ofPrimary, transport, folder.path);
    const secondary = await openCluster(ofSecondary, transport, folder.path);
    try {
      const { key } = await primary.initialize();
      const { key: former, rootToken } = await secondary.initialize();
      for (const { sys } of [primary, secondary]) await sys.start();
      const set = 'sys/replication/performance';
      await primary.asRoot('POST', `${set}/primary/enable`);
      const asked = await secondary.call('POST', `${set}/secondary/generate-public-key`, {
        token: rootToken,
      });
      const issued = await primary.asRoot('POST', `${set}/primary/secondary-token`, {
        body: { id: 'one', secondary_public_key: asked.body.data.secondary_public_key },
      });
      const enabled = await secondary.call('POST', `${set}/secondary/enable`, {
        token: rootToken,
        body: { token: issued.body.data.token },
      });
      expect(enabled.status).toBe(200);
      expect([await accepts(secondary, key), await accepts(secondary, former)]).toEqual([
        true,
        false,
      ]);

      const renewed = await rekey(primary, ofPrimary, key);
      expect([await accepts(primary, renewed), await accepts(primary, key)]).toEqual([true, false]);
      await until(() => accepts(secondary, renewed));
      expect(await accepts(secondary, key)).toBe(false);

      expect(await reopen(secondary, [key, renewed])).toEqual([false, true]);
      const token = (await generateRoot(secondary, renewed)) ?? '';
      const start = { token, body: { secret_shares: 1, secret_threshold: 1 } };
      expect(await secondary.call('POST', 'sys/rekey/init', start)).toMatchObject({
        status: 400,
        body: { errors: ['the key shares of this cluster are those of its primary: rekey there'] },
      });
    } finally {
      await secondary.close();
      await primary.close();
    }
  });
});
