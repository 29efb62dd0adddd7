/** R4 for ACME: bad JWS and bodies through the whole service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InProcessAuthority, openAuthority } from '../../in-process-authority.ts';
import { timeAnswer } from '../answer-time.ts';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { Random } from '../random.ts';
import { AcmeSession, CLUSTER_PATH, makeCsr, newKey, openProofServer } from './acme-session.ts';
import { type AcmeSamples, badAcmeRequest } from './bad-requests.ts';

const MAX_RESIDENT_GROWTH = 1.5;
/** Number of requests after which the accepted orders are removed. */
const CLEAN_EVERY = 5000;

const removeOrders = async ({ store }: InProcessAuthority): Promise<void> => {
  for (const prefix of await store.list('local/acme/')) {
    const orders = await store.scan(`local/acme/${prefix}orders/`);
    const queue = await store.scan(`local/acme/${prefix}challenge-queue/`);
    await store.transact((tx) => {
      for (const { path } of [...orders, ...queue]) tx.delete(path);
    });
  }
};

const prepare = async (session: AcmeSession): Promise<AcmeSamples> => {
  const ca = await session.authority.call('GET', 'ca');
  return { csr: await makeCsr(), certificate: ca, ...(await session.readyOrder()) };
};

const run = async (
  session: AcmeSession,
  { count, seed, patienceMs, isOver, say }: ChaosContext,
): Promise<ChaosReport> => {
  const random = new Random(seed);
  const broken: string[] = [];
  const statuses = new Map<number, number>();
  let slowestMilliseconds = 0;
  let residentHalfway = 0;
  await session.begin();
  let samples = await prepare(session);
  for (let sent = 0; sent < count && !isOver(); sent++) {
    if (sent > 0 && sent % CLEAN_EVERY === 0) {
      await removeOrders(session.authority);
      samples = await prepare(session);
    }
    if (sent === Math.floor(count / 2)) residentHalfway = process.memoryUsage().rss;
    if (sent > 0 && sent % 50_000 === 0) say(`${sent} sent, ${broken.length} broken`);
    const { method, path, body, contentType } = badAcmeRequest(session, samples, random);
    const { answer, milliseconds, workMilliseconds } = await timeAnswer(() =>
      session.send(method, path, body, contentType),
    );
    slowestMilliseconds = Math.max(slowestMilliseconds, milliseconds);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const request = `${method} ${path} ${Buffer.from(body).toString()}`;
    if (answer.status >= 500 || answer.status < 200)
      broken.push(`${answer.status} ${Buffer.from(answer.body).toString()} for ${request}`);
    if (workMilliseconds > patienceMs) broken.push(`${milliseconds.toFixed(0)} ms for ${request}`);
  }
  const growth = process.memoryUsage().rss / residentHalfway;
  if (growth > MAX_RESIDENT_GROWTH) broken.push(`resident memory grew ${growth.toFixed(2)} times`);
  return {
    broken,
    figures: {
      ...Object.fromEntries([...statuses].map(([status, times]) => [`answered ${status}`, times])),
      'slowest answer, ms': slowestMilliseconds.toFixed(1),
      'resident memory, second half, times': growth.toFixed(2),
    },
  };
};

export const acmeInput: Chaos = {
  name: 'acme-input',
  promise: 'bad JWS and ACME bodies are refused: no crash, no 5xx, no answer over 1 s (R4)',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 1500 },
  run: async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-chaos-'));
    const key = newKey();
    const proof = await openProofServer(key);
    const authority = await openAuthority(folder, {
      KEELSON_ACME_HTTP_PORT: String(proof.port),
    });
    try {
      await authority.call('POST', 'root/generate/internal', {
        common_name: 'Root',
        ttl: '87600h',
        key_type: 'ec',
      });
      await authority.call('POST', 'config/cluster', { path: CLUSTER_PATH });
      await authority.call('POST', 'config/acme', { enabled: true });
      return await run(new AcmeSession(authority, key), context);
    } finally {
      await authority.close();
      proof.close();
      await rm(folder, { recursive: true });
    }
  },
};
