/**
 * `npm run golden`: makes the golden store of the current version, which it replaces for as long as the version is
 * not released. A released one is never made again, because only its own code wrote what users have.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@keelson/runtime';
import {
  type KeelsonProcess,
  shiftedClock,
  startKeelson,
  startNats,
  temporaryDirectory,
} from '@keelson/testkit';
// Loads every module of every service, and with it every declaration.
import '../../src/compose.ts';
import { answersOf, type GoldenRead, goldenCalls } from './golden-calls.ts';
import { makeContents } from './golden-contents.ts';
import { exchangeRoles } from './golden-roles.ts';
import {
  ANSWERS,
  archiveOf,
  currentRecords,
  DATA,
  EXCHANGED,
  GOLDEN_FOLDER,
  type GoldenAnswer,
  goldenNames,
  recordsFileOf,
  SECONDARY,
  SNAPSHOT,
  STREAM,
} from './golden-stores.ts';
import { recordStreams, relayTo } from './golden-stream.ts';

const CHANGELOG = join(import.meta.dirname, '../../../../CHANGELOG.md');

/** Two years. */
const LATER_MS = 2 * 365 * 86_400_000;

const requireUnreleased = (): void => {
  if (!readFileSync(CHANGELOG, 'utf8').includes(`## ${VERSION}, not released yet`))
    throw new Error(`${VERSION} is released: its golden store stays as it is`);
};

/** Each cluster records uses of tokens for itself, whenever they are used. */
const OF_ONE_CLUSTER: readonly string[] = ['last-used-at'];

/** The parts of two answers that are equal in all clusters; undefined if nothing is. */
const commonPart = (one: unknown, other: unknown): unknown => {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other ? one : undefined;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return undefined;
    const parts = one.map((part, at) => commonPart(part, other[at]));
    return parts.includes(undefined) ? undefined : parts;
  }
  const found = Object.entries(one)
    .filter(([name]) => !OF_ONE_CLUSTER.includes(name))
    .map(([name, value]) => [name, commonPart(value, Reflect.get(other, name))] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(found);
};

const readAll = async (process: KeelsonProcess, reads: readonly GoldenRead[]) => {
  const calls = goldenCalls(process.http, process);
  const answers: object[] = [];
  for (const { of, method, path } of reads) answers.push(await calls[of](method, path));
  return answers;
};

const takeSnapshot = async ({ http, rootToken }: KeelsonProcess): Promise<Uint8Array> => {
  const headers = { 'X-Service-Token': rootToken };
  const answer = await fetch(`${http}/v1/sys/storage/raft/snapshot`, { headers });
  return new Uint8Array(await answer.arrayBuffer());
};

requireUnreleased();
await using folder = await temporaryDirectory();
await using nats = await startNats({ jetstream: true });
await using _ = await relayTo(nats.port);
const env = { KEELSON_RATE_LIMIT: 'off' };
/** Settings that some kinds of records need. No process that opens the store later has these settings. */
const ONCE = {
  KEELSON_NATS_URL: nats.url,
  KEELSON_PUBLIC_URL: 'https://keelson.example',
  KEELSON_WORKSPACE_BOOTSTRAP_TOKEN: 'golden-token-of-the-first-administrator',
  KEELSON_BACKUP_EVERY_SECONDS: '2678400',
  KEELSON_BACKUP_FOLDER: join(folder.path, 'backups'),
  // No server takes mail there, so that mails wait.
  KEELSON_WORKSPACE_SMTP_URL: 'smtp://127.0.0.1:9',
  KEELSON_WORKSPACE_MAIL_FROM: 'keelson@example.com',
  KEELSON_OUTBOUND_RANGES: '127.0.0.0/8',
};
const dataFolder = join(folder.path, DATA);
const first = await startKeelson({ dataFolder, env: { ...env, ...ONCE } });
const reads = await makeContents(
  goldenCalls(first.http, first),
  first,
  join(folder.path, SECONDARY),
);
const before = await readAll(first, reads);
writeFileSync(join(folder.path, SNAPSHOT), await takeSnapshot(first));
const { cluster_id: setId } = await answersOf(first.http, first).status('performance');
await first.stop();
writeFileSync(join(folder.path, STREAM), await recordStreams(nats.url, setId));
const [former, successor, branch] = EXCHANGED.map((part) => join(folder.path, part));
await exchangeRoles(nats.url, [former ?? '', successor ?? '', branch ?? '']);
// Parts that depend on addresses, ids of requests or the time of reading differ, and are left out.
const later = join(folder.path, 'later');
cpSync(dataFolder, later, { recursive: true });
const second = await startKeelson({
  dataFolder: later,
  env: { ...env, ...shiftedClock(LATER_MS) },
});
const after = await readAll(second, reads);
await second.stop();

const answers = reads.map(
  (read, at): GoldenAnswer => ({ ...read, answer: commonPart(before[at], after[at]) as object }),
);
writeFileSync(join(folder.path, ANSWERS), `${JSON.stringify(answers, undefined, 1)}\n`);
mkdirSync(GOLDEN_FOLDER, { recursive: true });
for (const name of goldenNames().filter((one) => one.startsWith(`${VERSION}-`)))
  for (const file of [archiveOf(name), recordsFileOf(name)]) rmSync(file, { force: true });
const name = `${VERSION}-${new Date().toISOString().slice(0, 10)}`;
const form = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
const left = ['--exclude=keelson.log', '--exclude=*lock*'];
const parts = ['-C', folder.path, DATA, SNAPSHOT, ANSWERS, SECONDARY, STREAM, ...EXCHANGED];
execFileSync('tar', ['-I', 'gzip -9n', '-cf', archiveOf(name), ...form, ...left, ...parts]);
writeFileSync(recordsFileOf(name), `${JSON.stringify(currentRecords(), undefined, 1)}\n`);
