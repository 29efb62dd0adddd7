/** R4 for HTTP: bytes that are not a valid request, sent to the port of a standalone cluster. */
import { connect } from 'node:net';
import type { Chaos } from '../chaos.ts';
import type { Outcome } from '../inputs.ts';
import { rawRequests } from './raw-requests.ts';
import { tryServer } from './tried-server.ts';

const STATUS = /(?:^|\r\n)HTTP\/1\.[01] (\d{3})/g;
/** Unknown method and unsupported HTTP version: the only 5xx answers that bad input may cause. */
const NO_FAULTS = ['501', '505'];
const KEPT_CHARACTERS = 200_000;

/** Sends the bytes, closes its side, and waits until the server has closed the connection. */
const exchange = (port: number, bytes: Uint8Array): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (received.length < KEPT_CHARACTERS) received += text;
    });
    // The server may close before it has read everything: what it sent before counts.
    socket.on('error', () => undefined).once('close', () => resolve(received));
    // Nobody closes the connection after an upgrade, so that the end of the stream must.
    socket.once('end', () => socket.end());
    socket.end(bytes);
  });

const judge = (received: string): Outcome => {
  const statuses = [...received.matchAll(STATUS)].map(([, status = '']) => status);
  const fault = statuses.find((status) => status >= '500' && !NO_FAULTS.includes(status));
  const kind = statuses[0] === undefined ? 'closed without an answer' : `answered ${statuses[0]}`;
  return fault === undefined ? { kind } : { kind, broken: `${fault}: ${received.slice(0, 600)}` };
};

export const httpInput: Chaos = {
  name: 'http-input',
  promise:
    'R4 bytes that are no HTTP, bad framing, headers, targets and bodies: every connection is answered or ' +
    'closed within 1 s after its end, no 5xx, no crash, memory flat',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 1000 },
  run: (context) =>
    tryServer(context, {
      prepare: async ({ token }) => rawRequests(token),
      send: async (cluster, bytes) =>
        judge(await exchange(Number(new URL(cluster.process().http).port), bytes)),
      show: (bytes) => JSON.stringify(Buffer.from(bytes).toString('latin1')).slice(0, 1500),
    }),
};
