/** R4 for ACME: bad JWS and bodies through the whole service. */
import { temporaryDirectory } from '@keelson/testkit';
import { type InProcessAuthority, openAuthority } from '../../in-process-authority.ts';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { tryInputs } from '../inputs.ts';
import { RESIDENT_MEMORY } from '../memory.ts';
import { AcmeSession, CLUSTER_PATH, makeCsr, newKey, openProofServer } from './acme-session.ts';
import { type AcmeSamples, badAcmeRequest } from './bad-requests.ts';

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

const run = async (session: AcmeSession, context: ChaosContext): Promise<ChaosReport> => {
  await session.begin();
  return tryInputs(context, {
    begin: async () => {
      await removeOrders(session.authority);
      return badAcmeRequest(session, await prepare(session));
    },
    block: CLEAN_EVERY,
    send: async ({ method, path, body, contentType }) => {
      const { status, body: answer } = await session.send(method, path, body, contentType);
      const isBroken = status >= 500 || status < 200;
      return {
        kind: `answered ${status}`,
        broken: isBroken ? `${status} ${Buffer.from(answer).toString()}` : undefined,
      };
    },
    show: ({ method, path, body }) => `${method} ${path} ${Buffer.from(body).toString()}`,
    memory: RESIDENT_MEMORY,
  });
};

export const acmeInput: Chaos = {
  name: 'acme-input',
  promise: 'bad JWS and ACME bodies are refused: no crash, no 5xx, no answer over 1 s (R4)',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 1500 },
  run: async (context) => {
    await using folder = await temporaryDirectory();
    const key = newKey();
    const proof = await openProofServer(key);
    const authority = await openAuthority(folder.path, {
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
    }
  },
};
