/** A Redis master with a replica, watched by three sentinels. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findBinary } from '../find-binary.ts';
import { findFreePort } from '../free-port.ts';
import { type RedisServer, startRedis } from '../redis.ts';
import { ServerProcess } from '../server-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { writeExample } from './example-file.ts';

const SENTINELS = 3;
const GROUP = 'mymaster';

export interface SentinelGroup extends AsyncDisposable {
  /** redis://GROUP, the address for clients that know the sentinels. */
  readonly url: string;
  /** host:port of each. */
  readonly sentinels: readonly string[];
  /** The server that the sentinels call the master now. */
  master(): Promise<RedisServer>;
}

export const startSentinelGroup = async (): Promise<SentinelGroup> => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryDirectory());
  const file = await findBinary('redis-sentinel', 'redis-sentinel');
  const master = stack.use(await startRedis({ durable: true }));
  const replica = stack.use(await startRedis({ durable: true, replicaOfPort: master.port }));
  const sentinels: string[] = [];
  for (let number = 1; number <= SENTINELS; number += 1) {
    const port = await findFreePort();
    const own = await mkdtemp(join(folder.path, 'sentinel-'));
    const settings = await writeExample(own, 'sentinel.conf', {
      '26379': String(port),
      '0.0.0.0': '127.0.0.1',
      '/var/lib/redis': own,
      'first.example.com 6379': `127.0.0.1 ${master.port}`,
    });
    // A master is only replaced by a replica that the sentinels have found.
    const process = new ServerProcess({ file, args: [settings], ready: /\+slave / });
    stack.defer(() => process.kill());
    await process.start();
    sentinels.push(`127.0.0.1:${port}`);
  }
  const known = stack.adopt(new Redis(Number(sentinels[0]?.split(':')[1]), '127.0.0.1'), (client) =>
    client.disconnect(),
  );
  const owned = stack.move();
  return {
    url: `redis://${GROUP}`,
    sentinels,
    master: async () => {
      const [, port] = (await known.call('sentinel', 'get-master-addr-by-name', GROUP)) as string[];
      return Number(port) === master.port ? master : replica;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
