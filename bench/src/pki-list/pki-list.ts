import { randomBytes } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { issueCertificates } from '../issued-certificates.ts';
import { askV1, openMeasuredServer } from '../measured-server.ts';
import { median } from '../median.ts';

const ROUNDS = 9;

export const pkiList: Bench = {
  name: 'pki-list',
  claim: 'P16: LIST of 100,000 certificates in 0.3 s, the event loop never held over 50 ms',
  method:
    'LIST certs over HTTP, one at a time, until the last byte; meanwhile sys/health is asked without a ' +
    'pause on another connection, and the slowest of its answers is the longest wait of another caller.',
  run: async (context) => {
    const { quick, say } = context;
    const count = quick ? 200 : 100_000;
    await using server = await openMeasuredServer(context);
    const mount = `bench-${randomBytes(4).toString('hex')}`;
    say(`issuing ${count} certificates`);
    await issueCertificates(server, mount, { count });
    say('listing');
    let isListing = true;
    const waits: number[] = [];
    const asking = (async () => {
      while (isListing) {
        const askedAt = performance.now();
        await (await fetch(`${server.url}/v1/sys/health`)).arrayBuffer();
        waits.push(performance.now() - askedAt);
      }
    })();
    const lists: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const askedAt = performance.now();
      await (await askV1(server, 'LIST', `${mount}/certs`)).arrayBuffer();
      lists.push(performance.now() - askedAt);
    }
    isListing = false;
    await asking;
    return [
      {
        name: `LIST of ${count} certificates`,
        value: median(lists),
        unit: 'ms',
        limit: { name: 'P16', value: 300 },
      },
      {
        name: 'longest wait of another caller meanwhile',
        value: Math.max(...waits),
        unit: 'ms',
        limit: { name: 'P16', value: 50 },
      },
    ];
  },
};
