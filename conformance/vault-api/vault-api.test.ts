/** The Go tests of this folder: the published client library, unchanged, against two clusters. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findBinary, type NatsServer, startNats } from '@keelson/testkit';
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

const GO = await findBinary('go', 'golang').catch(() => undefined);
if (GO === undefined) {
  process.stderr.write(
    '\n*** NOT TESTED: go is not in PATH, the Go client library does not run\n\n',
  );
}

const WITHIN_MS = 300_000;
let nats: NatsServer | undefined;
let clusters: readonly Cluster[] = [];

beforeAll(async () => {
  if (GO === undefined) return;
  const { url } = (nats = await startNats({ jetstream: true }));
  clusters = await Promise.all([startCluster(url), startCluster(url)]);
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of clusters) await cluster.stop();
  await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const go = async (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> => {
  const run = promisify(execFile)(GO ?? 'go', args, { cwd: import.meta.dirname, env });
  const { stdout, stderr } = await run.catch((failed: { stdout?: string; stderr?: string }) => ({
    stdout: failed.stdout ?? '',
    stderr: failed.stderr ?? '',
  }));
  return stdout + stderr;
};

test.runIf(GO !== undefined)(
  'drives custom messages and both kinds of replication',
  { timeout: WITHIN_MS },
  async () => {
    const [a, b] = clusters;
    expect(await go(process.env, 'vet', './...')).toBe('');
    const environment = {
      ...process.env,
      A_ADDRESS: a?.process().http,
      A_TOKEN: a?.token,
      B_ADDRESS: b?.process().http,
      B_TOKEN: b?.token,
      SHARES: a?.shares.join(','),
    };
    const report = await go(environment, 'test', '-count=1', './...');
    expect(report).toMatch(/^ok\s/m);
    expect(report).not.toContain('FAIL');
  },
);
