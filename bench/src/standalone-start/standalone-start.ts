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

type StartServer = () => ReturnType<typeof startServer>;

const measureOnce = async (idleMilliseconds: number, start: StartServer): Promise<Start> => {
  const server = await start();
  await new Promise((resolve) => setTimeout(resolve, idleMilliseconds));
  const idleMegabytes = server.residentMegabytes();
  await server.stop();
  return { milliseconds: server.startedMilliseconds, idleMegabytes };
};

/** V8 returns the memory of the start when a process has rested for some ten seconds, up to a minute in all. */
const REST_MS = 60_000;

/** The last start is the one whose process rested. */
const middle = (starts: readonly Start[]): Start => ({
  milliseconds: median(starts.map((one) => one.milliseconds)),
  idleMegabytes: starts.at(-1)?.idleMegabytes ?? 0,
});

const toFigures = (
  first: Start,
  standalone: Start,
  withoutRunner: Start,
  bare: Start,
): readonly Figure[] => [
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
  {
    name: 'start with the built-in runner and its sandbox',
    value: standalone.milliseconds,
    unit: 'ms',
    limit: { name: 'without', value: withoutRunner.milliseconds },
  },
  {
    name: 'idle memory with them',
    value: standalone.idleMegabytes,
    unit: 'MB',
    limit: { name: 'without', value: withoutRunner.idleMegabytes },
  },
];

export const standaloneStart: Bench = {
  name: 'standalone-start',
  claim: 'P13: standalone start to first answer <= 1.2 s; idle memory <= 170 MB',
  method:
    'The process is spawned and asked until it answers; in the last of five rounds, resident memory a minute later. ' +
    'Median of the starts on an existing data folder, with the built-in runner, without it, and of bare Fastify in turn.',
  run: async ({ quick, say }) => {
    const rounds = quick ? 1 : 5;
    const restMilliseconds = (round: number): number => (round === rounds && !quick ? REST_MS : 0);
    const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
    const [http, https, port] = [await freePort(), await freePort(), await freePort()];
    const startStandalone = (runner = 'true') =>
      startServer({
        module: standaloneModule,
        env: {
          KEELSON_DATA_DIR: folder,
          KEELSON_RUNNER: runner,
          KEELSON_HTTP_PORT: String(http),
          KEELSON_HTTPS_PORT: String(https),
        },
        firstRequest: `http://127.0.0.1:${http}/v1/sys/seal-status`,
      });
    try {
      say('standalone, empty data folder');
      const first = await measureOnce(0, startStandalone);
      const starts: readonly StartServer[] = [
        startStandalone,
        () => startStandalone('false'),
        () =>
          startServer({
            module: bareModule,
            env: { PORT: String(port) },
            firstRequest: `http://127.0.0.1:${port}/`,
          }),
      ];
      const measured: Start[][] = starts.map(() => []);
      for (let round = 1; round <= rounds; round++) {
        say(`standalone with and without the built-in runner, bare Fastify: round ${round}`);
        for (const [index, start] of starts.entries())
          measured[index]?.push(await measureOnce(restMilliseconds(round), start));
      }
      const [standalone, withoutRunner, bare] = measured.map(middle) as [Start, Start, Start];
      return toFigures(first, standalone, withoutRunner, bare);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
