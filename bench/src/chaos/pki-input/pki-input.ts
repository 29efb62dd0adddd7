/** R4 for the certificate authority: damaged DER, CSRs, PEM and parameters through its whole service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAuthority } from '../../in-process-authority.ts';
import { timeAnswer } from '../answer-time.ts';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { liveMegabytes, MAX_GROWTH_MEGABYTES } from '../live-memory.ts';
import { Random } from '../random.ts';
import { badRequest, makeSamples } from './requests.ts';

/** Number of requests after which accepted objects are deleted, so that the authority stays small. */
const CLEAN_EVERY = 2000;

type Authority = Awaited<ReturnType<typeof openAuthority>>;

const setUp = async (authority: Authority): Promise<void> => {
  const root = { common_name: 'Root', ttl: '87600h', key_type: 'ec' };
  await authority.call('POST', 'root/generate/internal', root);
  const role = { allow_any_name: true, enforce_hostnames: false, key_type: 'any', no_store: true };
  await authority.call('POST', 'roles/unstored', {
    ...role,
    allowed_uri_sans: '*',
    allowed_other_sans: '*',
  });
};

const clean = async (authority: Authority): Promise<void> => {
  await authority.call('DELETE', 'root');
  await setUp(authority);
};

const run = async (
  authority: Authority,
  { count, seed, patienceMs, isOver, say }: ChaosContext,
): Promise<ChaosReport> => {
  const random = new Random(seed);
  const samples = await makeSamples();
  const broken: string[] = [];
  const statuses = new Map<number, number>();
  let slowestMilliseconds = 0;
  let megabytesHalfway = 0;
  for (let sent = 0; sent < count && !isOver(); sent++) {
    if (sent > 0 && sent % CLEAN_EVERY === 0) await clean(authority);
    if (sent === Math.floor(count / 2)) megabytesHalfway = liveMegabytes();
    if (sent % 50_000 === 0 && sent > 0) say(`${sent} sent`);
    const request = badRequest(samples, random);
    const { answer, milliseconds, workMilliseconds } = await timeAnswer(() =>
      authority.send(request.method, request.path, request.body),
    );
    const { status, body } = answer;
    slowestMilliseconds = Math.max(slowestMilliseconds, milliseconds);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const isRefused = status >= 400 && status < 500;
    if (status !== 200 && status !== 204 && !isRefused)
      broken.push(
        `${status} ${Buffer.from(body).toString().slice(0, 300)} for ${JSON.stringify(request)}`,
      );
    if (workMilliseconds > patienceMs)
      broken.push(`${milliseconds.toFixed(0)} ms for ${JSON.stringify(request)}`);
  }
  const growth = liveMegabytes() - megabytesHalfway;
  if (growth > MAX_GROWTH_MEGABYTES) broken.push(`live memory grew by ${growth.toFixed(1)} MB`);
  return {
    broken,
    figures: {
      ...Object.fromEntries([...statuses].map(([status, times]) => [`answered ${status}`, times])),
      'slowest answer, ms': slowestMilliseconds.toFixed(1),
      'growth of live memory, second half, MB': growth.toFixed(1),
    },
  };
};

export const pkiInput: Chaos = {
  name: 'pki-input',
  promise:
    'bad DER, CSRs, PEM and parameters are refused: no crash, no 5xx, no answer over 1 s, memory flat (R4)',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 1500 },
  run: async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-chaos-'));
    const authority = await openAuthority(folder);
    try {
      await setUp(authority);
      return await run(authority, context);
    } finally {
      await authority.close();
      await rm(folder, { recursive: true });
    }
  },
};
