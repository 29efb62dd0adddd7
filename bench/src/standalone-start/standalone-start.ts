import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Figure } from '../bench.ts';
import { median } from '../median.ts';
import { freePort, startServer } from '../server-process.ts';

const standaloneModule = new URL('../../../services/standalone/src/main.ts', import.meta.url);
const bareModule = new URL('../bare-fastify.ts', import.meta.url);

interface Start {
  readonly milliseconds: number;
  readonly idleMegabytes: number;
}

/** Starts `rounds` times, each after the one before has stopped. */
const measure = async (
  rounds: number,
  idleMilliseconds: number,
  start: () => ReturnType<typeof startServer>,
): Promise<Start> => {
  const starts: Start[] = [];
  for (let round = 0; round < rounds; round++) {
    const server = await start();
    await new Promise((resolve) => setTimeout(resolve, idleMilliseconds));
    starts.push({
      milliseconds: server.startedMilliseconds,
      idleMegabytes: server.residentMegabytes(),
    });
    await server.stop();
  }
  return {
    milliseconds: median(starts.map((one) => one.milliseconds)),
    idleMegabytes: median(starts.map((one) => one.idleMegabytes)),
  };
};

const toFigures = (first: Start, standalone: Start, bare: Start): readonly Figure[] => [
  {
    name: 'start to first answer (target: at most 1,200)',
    value: standalone.milliseconds,
    unit: 'ms',
    limit: { name: 'bare Fastify', value: bare.milliseconds },
  },
  {
    name: 'the first start, with an empty data folder',
    value: first.milliseconds,
    unit: 'ms',
    limit: { name: 'bare Fastify', value: bare.milliseconds },
  },
  {
    name: 'idle memory (target: at most 170)',
    value: standalone.idleMegabytes,
    unit: 'MB',
    limit: { name: 'bare Fastify', value: bare.idleMegabytes },
  },
];

export const standaloneStart: Bench = {
  name: 'standalone-start',
  claim: 'P13: standalone start to first answer <= 1.2 s; idle memory <= 170 MB',
  method:
    'The process is spawned and asked until it answers; resident memory two seconds later. ' +
    'Median of five starts on an existing data folder, and bare Fastify the same way.',
  run: async ({ quick, say }) => {
    const [rounds, idleMilliseconds] = quick ? [1, 0] : [5, 2_000];
    const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
    const [http, https, port] = [await freePort(), await freePort(), await freePort()];
    const startStandalone = () =>
      startServer({
        module: standaloneModule,
        env: {
          KEELSON_DATA_DIR: folder,
          KEELSON_HTTP_PORT: String(http),
          KEELSON_HTTPS_PORT: String(https),
        },
        firstRequest: `http://127.0.0.1:${http}/v1/sys/seal-status`,
      });
    try {
      say('standalone, empty data folder');
      const first = await measure(1, 0, startStandalone);
      say('standalone');
      const standalone = await measure(rounds, idleMilliseconds, startStandalone);
      say('bare Fastify');
      const bare = await measure(rounds, idleMilliseconds, () =>
        startServer({
          module: bareModule,
          env: { PORT: String(port) },
          firstRequest: `http://127.0.0.1:${port}/`,
        }),
      );
      return toFigures(first, standalone, bare);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
