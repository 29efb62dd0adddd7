/** A server with a certificate authority, and the load of its benches. */
import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';
import type { BenchContext, Figure } from '../bench.ts';
import { processUsage } from '../child-process.ts';
import { askV1, type MeasuredServer, openMeasuredServer } from '../measured-server.ts';

/** Creates a mount with a root and a role `bench`; returns its path. */
const setUpMount = async (server: MeasuredServer, role: object): Promise<string> => {
  const mount = `bench-${randomBytes(4).toString('hex')}`;
  const tuning = { type: 'pki', config: { max_lease_ttl: '87600h' } };
  await askV1(server, 'POST', `sys/mounts/${mount}`, tuning);
  const root = { common_name: 'Bench Root', ttl: '87600h', key_type: 'ec' };
  await askV1(server, 'POST', `${mount}/root/generate/internal`, root);
  const names = { allowed_domains: 'example.com', allow_subdomains: true };
  await askV1(server, 'POST', `${mount}/roles/bench`, { ...names, ...role });
  return mount;
};

export interface PkiLoad {
  readonly context: BenchContext;
  readonly role: object;
  /** Below the mount. */
  readonly path: string;
  readonly body: object;
  readonly connections: number;
}

const cpuAndMemory = (server: MeasuredServer) =>
  server.pid === undefined ? undefined : processUsage(server.pid);

/** The bound of a quick run, in requests, because a busy machine may answer nothing within a time limit. */
export const onceEach = (connections: number) => ({ amount: connections, timeout: 120 });

/** Requests per second that the server answers from a given number of connections, all of them with success. */
export const measureThroughput = async ({
  context,
  role,
  path,
  body,
  connections,
}: PkiLoad): Promise<
  Pick<Figure, 'value' | 'unit' | 'cpuMicrosecondsPerOperation' | 'peakMemoryMegabytes'>
> => {
  const { quick, say } = context;
  await using server = await openMeasuredServer(context);
  const mount = await setUpMount(server, role);
  const load = (seconds: number) =>
    autocannon({
      url: `${server.url}/v1/${mount}/${path}`,
      method: 'POST',
      connections,
      ...(quick ? onceEach(connections) : { duration: seconds }),
      headers: server.v1Headers,
      body: Buffer.from(JSON.stringify(body)),
    });
  say('warming up');
  if (!quick) await load(3);
  say('measuring');
  const before = cpuAndMemory(server);
  const result = await load(10);
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} failed`);
  const after = cpuAndMemory(server);
  return {
    value: result.requests.total / result.duration,
    unit: '/s',
    ...(before &&
      after && {
        cpuMicrosecondsPerOperation:
          (after.cpuMicroseconds - before.cpuMicroseconds) / result.requests.total,
        peakMemoryMegabytes: after.peakMemoryMegabytes,
      }),
  };
};
