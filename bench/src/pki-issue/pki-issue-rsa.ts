import { generateKeyPair } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import type { Bench } from '../bench.ts';
import { measureThroughput } from './pki-server.ts';

const CONNECTIONS = 16;
const createKey = promisify(generateKeyPair);

/** RSA-2048 keys per second that all cores generate, with no other work. */
const measureLimit = async (seconds: number): Promise<number> => {
  const startedAt = performance.now();
  const isOver = (): boolean => performance.now() - startedAt >= seconds * 1000;
  let count = 0;
  const work = async (): Promise<void> => {
    for (; !isOver(); count++) await createKey('rsa', { modulusLength: 2048 });
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return count / ((performance.now() - startedAt) / 1000);
};

export const pkiIssueRsa: Bench = {
  name: 'pki-issue-rsa',
  claim:
    'P3: issue a stored RSA-2048 leaf at >= 0.9 of generateKeyPair alone on all cores, >= 1.3 x a peer',
  method: `POST issue over HTTP from ${CONNECTIONS} connections; the limit is generateKeyPair on the thread pool, one key per core at a time. Making a key takes from a fifth to five times its mean: short runs scatter.`,
  run: async (context) => {
    const limit = await measureLimit(context.quick ? 0.3 : 10);
    const measured = await measureThroughput({
      context,
      role: { key_type: 'rsa', key_bits: 2048 },
      path: 'issue/bench',
      body: { common_name: 'a.example.com', ttl: '1h' },
      connections: CONNECTIONS,
    });
    return [
      {
        ...measured,
        name: 'issue RSA-2048 (target: at least 0.9)',
        limit: { name: 'generateKeyPair', value: limit },
      },
    ];
  },
};
