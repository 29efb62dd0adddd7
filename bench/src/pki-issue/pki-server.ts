/** A server with a certificate authority in it, and the load that its benches put on it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKeelson } from '@keelson/testkit';
import autocannon from 'autocannon';
import type { BenchContext, Figure } from '../bench.ts';
import { processUsage } from '../child-process.ts';

interface Server {
  readonly url: string;
  readonly token: string;
  /** undefined for a server that this bench did not start. */
  readonly pid: number | undefined;
  stop(): Promise<unknown>;
}

const post = async ({ url, token }: Server, path: string, body: unknown): Promise<void> => {
  const answer = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-service-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
};

/** A mount of its own with a root and a role `bench`; returns its path. */
const setUpMount = async (server: Server, role: object): Promise<string> => {
  const mount = `bench-${randomBytes(4).toString('hex')}`;
  await post(server, `sys/mounts/${mount}`, { type: 'pki', config: { max_lease_ttl: '87600h' } });
  const root = { common_name: 'Bench Root', ttl: '87600h', key_type: 'ec' };
  await post(server, `${mount}/root/generate/internal`, root);
  const names = { allowed_domains: 'example.com', allow_subdomains: true };
  await post(server, `${mount}/roles/bench`, { ...names, ...role });
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

const startServer = async ({ target, token }: BenchContext, folder: string): Promise<Server> => {
  if (target !== undefined)
    return { url: target, token: token ?? '', pid: undefined, stop: () => Promise.resolve() };
  const started = await startKeelson({ dataFolder: folder });
  return {
    url: started.http,
    token: started.rootToken,
    pid: started.pid,
    stop: () => started.stop(),
  };
};

const cpuAndMemory = (server: Server) =>
  server.pid === undefined ? undefined : processUsage(server.pid);

/** The bound of a quick run: within a time a busy machine may answer nothing. */
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
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
  const server = await startServer(context, folder);
  try {
    const mount = await setUpMount(server, role);
    const load = (seconds: number) =>
      autocannon({
        url: `${server.url}/v1/${mount}/${path}`,
        method: 'POST',
        connections,
        ...(quick ? onceEach(connections) : { duration: seconds }),
        headers: { 'x-service-token': server.token, 'content-type': 'application/json' },
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
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
