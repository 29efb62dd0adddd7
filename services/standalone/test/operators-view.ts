/** The views of an operator on a bad day: the command line, readiness, and the alerts of a real Prometheus. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  bareEnvironment,
  bundledProcess,
  findBinary,
  findFreePort,
  type KeelsonProcess,
  ServerProcess,
} from '@keelson/testkit';

const MONITORING = join(import.meta.dirname, '../../../deploy/monitoring');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command `keelson`. @param env in addition to a bare environment */
export const keelson = async (
  given: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<Ended> => {
  const command = await bundledProcess('services/cli/src/main.ts');
  const child = spawn(process.execPath, [command, ...given], {
    env: { ...bareEnvironment('/nonexistent'), ...env },
  });
  child.stdin.on('error', () => undefined).end(input);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, out, err };
};

export interface Readiness {
  readonly http: number;
  readonly status: string;
  readonly seal: string;
  readonly impaired?: Readonly<Record<string, readonly string[]>>;
}

export interface View {
  readonly status: Ended;
  readonly ready: Readiness;
  readonly doctor: Ended;
}

/** @param settings those of the server that the doctor reads, too */
export const lookAt = async (
  server: Pick<KeelsonProcess, 'http' | 'dataFolder'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<View> => {
  const [status, ready, doctor] = await Promise.all([
    keelson(['status'], { KEELSON_ADDR: server.http }),
    fetch(`${server.http}/readyz`).then(async (answer) => ({
      ...((await answer.json()) as Omit<Readiness, 'http'>),
      http: answer.status,
    })),
    keelson(['doctor', server.dataFolder], settings),
  ]);
  return { status, ready, doctor };
};

export interface Alarms {
  /** Scrapes a further server, under the name of a job that begins with `keelson`. */
  watch(job: string, server: Pick<KeelsonProcess, 'http'>): void;
  /** Forgets a server. */
  forget(job: string): void;
  /** The alerts that ring for a job. */
  ringing(job: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** A forecast says nothing in its first minutes, in which other tests fill the disk of the machine: it waits as shipped. */
const SHORTENED = /(?<!predict_linear.*\n *)\bfor: \w+$/gm;

/** The alert rules as they are shipped, but for the time that they wait before they ring. */
export const startAlarms = async (folder: string): Promise<Alarms> => {
  mkdirSync(folder);
  const rules = readFileSync(join(MONITORING, 'alerts.yaml'), 'utf8');
  writeFileSync(join(folder, 'alerts.yaml'), rules.replaceAll(SHORTENED, 'for: 0s'));
  const targets = join(folder, 'targets.json');
  const jobs = new Map<string, string>();
  const announce = (): void => {
    const groups = [...jobs].map(([job, host]) => ({ targets: [host], labels: { job } }));
    writeFileSync(`${targets}.new`, JSON.stringify(groups));
    renameSync(`${targets}.new`, targets);
  };
  announce();
  writeFileSync(
    join(folder, 'prometheus.yaml'),
    [
      'global: { scrape_interval: 1s, evaluation_interval: 1s }',
      'rule_files: [alerts.yaml]',
      'scrape_configs:',
      '  - { job_name: targets, file_sd_configs: [{ files: [targets.json] }] }',
    ].join('\n'),
  );
  const address = `127.0.0.1:${await findFreePort()}`;
  const prometheus = new ServerProcess({
    file: await findBinary('prometheus', 'prometheus'),
    args: [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=${address}`,
    ],
    ready: /Server is ready to receive web requests/,
  });
  await prometheus.start();
  interface Alerts {
    readonly data: {
      readonly alerts: readonly { state: string; labels: Record<string, string> }[];
    };
  }
  return {
    watch: (job, { http }) => {
      jobs.set(job, new URL(http).host);
      announce();
    },
    forget: (job) => {
      jobs.delete(job);
      announce();
    },
    ringing: async (wanted) => {
      const answer = await fetch(`http://${address}/api/v1/alerts`);
      const { data } = (await answer.json()) as Alerts;
      return data.alerts
        .filter(({ state, labels }) => state === 'firing' && labels['job'] === wanted)
        .map(({ labels }) => labels['alertname'] ?? '');
    },
    stop: () => prometheus.stop(),
  };
};
