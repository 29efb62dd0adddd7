/** Clusters whose roles have changed, each in a data folder of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startKeelson } from '@keelson/testkit';
import {
  attach,
  follow,
  generateOperationToken,
  generateRoot,
  until,
  untilStreaming,
} from '@keelson/testkit/addressed-cluster';
import * as openpgp from 'openpgp';
import { answersOf, goldenCalls } from './golden-calls.ts';

const SETS = 'sys/replication';
const SECONDARY = `${SETS}/dr/secondary`;

const start = async (dataFolder: string, natsUrl: string) => {
  const env = { KEELSON_RATE_LIMIT: 'off', KEELSON_NATS_URL: natsUrl };
  const process = await startKeelson({ dataFolder, env });
  const { unseal_keys: shares } = JSON.parse(
    readFileSync(join(dataFolder, 'first-run.json'), 'utf8'),
  );
  return { process, shares: shares as readonly string[], ...answersOf(process.http, process) };
};

/** Replaces the recovery shares by one, of which the cluster has a backup. Nobody can use it. */
const rekeyWithBackup = async (
  v1: ReturnType<typeof answersOf>['v1'],
  shares: readonly string[],
): Promise<void> => {
  const { publicKey } = await openpgp.generateKey({
    userIDs: [{ name: 'golden' }],
    format: 'object',
  });
  const pgpKeys = [Buffer.from(publicKey.write()).toString('base64')];
  const path = 'sys/rekey-recovery-key';
  const shape = { secret_shares: 1, secret_threshold: 1, pgp_keys: pgpKeys, backup: true };
  const { body: begun } = await v1('POST', `${path}/init`, shape);
  for (const key of shares.slice(0, begun.required))
    await v1('POST', `${path}/update`, { key, nonce: begun.nonce });
};

/**
 * The first was primary of both kinds of sets. It follows the second, which was its DR secondary, and has an operation
 * token and an attempt to make another one. The third is a filtered performance secondary of them.
 */
export const exchangeRoles = async (
  natsUrl: string,
  [first, second, third]: readonly [string, string, string],
): Promise<void> => {
  const former = await start(first, natsUrl);
  const successor = await start(second, natsUrl);
  const branch = await start(third, natsUrl);
  try {
    const { v1 } = goldenCalls(former.process.http, former.process);
    for (const kind of ['performance', 'dr']) await v1('POST', `${SETS}/${kind}/primary/enable`);
    await v1('POST', `${SETS}/performance/primary/demote`);
    await v1('POST', `${SETS}/performance/secondary/promote`);
    const filter = { mode: 'deny', paths: ['withheld/'] };
    const primary = `${SETS}/performance/primary`;
    const issued = await v1('POST', `${primary}/secondary-token`, { id: 'branch' });
    await v1('POST', `${primary}/paths-filter/branch`, filter);
    const { token } = issued.wrap_info;
    await branch.v1('POST', `${SETS}/performance/secondary/enable`, { token });
    await untilStreaming('performance', branch);
    const rooted = { rootToken: await generateRoot(branch, former.shares), apiToken: '' };
    const filtered = answersOf(branch.process.http, rooted);
    // The secondary has stored its filter when it shows it.
    await filtered.v1('GET', `${SETS}/performance/secondary/dynamic-filter/branch`);
    await attach('dr', former, successor, 'successor');
    const promotion = await generateOperationToken(successor, former.shares);
    await v1('POST', `${SETS}/dr/primary/demote`);
    await until(
      () => successor.v1('POST', `${SECONDARY}/promote`, { dr_operation_token: promotion }),
      ({ status }) => status === 200,
    );
    const rootToken = await generateRoot(successor, former.shares);
    const leader = answersOf(successor.process.http, { rootToken, apiToken: '' });
    const operation = await generateOperationToken(former, former.shares);
    await follow('dr', leader, former, 'former', operation);
    await former.v1('POST', `${SECONDARY}/generate-operation-token/attempt`, {}, '');
    await rekeyWithBackup(leader.v1, former.shares);
  } finally {
    await former.process.stop();
    await successor.process.stop();
    await branch.process.stop();
  }
};
