/** The alert rules, the dashboards and the README's commands, with a real Prometheus that scrapes a real Keelson. */
import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  documentedCommands,
  findBinary,
  findFreePort,
  type KeelsonProcess,
  ServerProcess,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const FOLDER = import.meta.dirname;
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const dashboards = globSync('grafana/*.json', { cwd: FOLDER }).map(
  (name): Dashboard => JSON.parse(textOf(name)),
);

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
const rules = (
  parse(textOf('alerts.yaml')).groups as { readonly rules: readonly Rule[] }[]
).flatMap((group) => group.rules);

/** Queries as panels send them for all jobs. */
const queries = dashboards.flatMap(({ title, panels }) =>
  panels.flatMap((panel) =>
    panel.targets.map(({ expr }) => ({
      name: `${title}, ${panel.title}`,
      query: expr.replaceAll('$job', '.*'),
    })),
  ),
);

describe('alert rules', () => {
  test('pass their tests', async () => {
    const promtool = await findBinary('promtool', 'prometheus');
    const run = () =>
      execFileSync(promtool, ['test', 'rules', 'alerts.test.yaml'], { cwd: FOLDER });
    expect(run().toString()).toContain('SUCCESS');
  });

  test('each have a test that raises the alert', () => {
    interface Case {
      readonly alertname: string;
      readonly exp_alerts?: readonly unknown[];
    }
    const cases = parse(textOf('alerts.test.yaml')).tests as {
      readonly alert_rule_test: readonly Case[];
    }[];
    const raised = cases
      .flatMap((one) => one.alert_rule_test)
      .filter((one) => (one.exp_alerts ?? []).length > 0)
      .map(({ alertname }) => alertname);
    expect([...new Set(raised)].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });
});

test('rules and dashboards use metrics that are documented', () => {
  const page = readFileSync(join(FOLDER, '../../docs/metrics.md'), 'utf8');
  const used = [...rules.map(({ expr }) => expr), ...queries.map(({ query }) => query)].flatMap(
    (expr) => expr.match(/keelson_\w+/g) ?? [],
  );
  const unknown = used
    .map((name) => name.replace(/_bucket$/, ''))
    .filter((name) => !page.includes(`\`${name}\``));
  expect(used.length).toBeGreaterThan(40);
  expect(unknown).toEqual([]);
});

describe('Prometheus', () => {
  let keelson: KeelsonProcess;
  let prometheus: ServerProcess;
  let address: string;
  let temporary: Awaited<ReturnType<typeof temporaryDirectory>>;
  let directory: string;

  beforeAll(async () => {
    temporary = await temporaryDirectory();
    directory = temporary.path;
    keelson = await startKeelson({ dataFolder: join(directory, 'data') });
    const commands = documentedCommands('deploy/monitoring/README.md', 'Try it')
      .replace('http://127.0.0.1:8200', keelson.http)
      .replace(/TOKEN=…[^\n]*/, `TOKEN=${keelson.rootToken}`);
    const [setUp = '', start = ''] = commands.split(/^(?=prometheus )/m);
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', setUp], { cwd: directory });
    // Alerts ring at once.
    writeFileSync(
      join(directory, 'alerts.yaml'),
      textOf('alerts.yaml').replaceAll(/ for: \w+$/gm, ' for: 0s'),
    );
    writeFileSync(
      join(directory, 'prometheus.yaml'),
      textOf('prometheus.yaml')
        .replaceAll('127.0.0.1:8200', new URL(keelson.http).host)
        .replace('scrape_interval: 30s', 'scrape_interval: 200ms\n  evaluation_interval: 200ms'),
    );
    address = `127.0.0.1:${await findFreePort()}`;
    const [, ...args] = start.trim().split(' ');
    prometheus = new ServerProcess({
      file: await findBinary('prometheus', 'prometheus'),
      args: args.map((arg) =>
        arg
          .replace('prometheus.yaml', join(directory, 'prometheus.yaml'))
          .replace('/tmp/prometheus', join(directory, 'prometheus'))
          .replace('127.0.0.1:9090', address),
      ),
      ready: /Server is ready to receive web requests/,
    });
    await prometheus.start();
  });
  afterAll(async () => {
    await prometheus?.stop();
    await keelson?.stop();
    await temporary?.[Symbol.asyncDispose]();
  });

  interface QueryAnswer {
    readonly status: string;
    readonly error?: string;
    readonly data: { readonly result: readonly { readonly value: [number, string] }[] };
  }

  const query = async (expr: string): Promise<QueryAnswer['data']['result']> => {
    const answer = await fetch(`http://${address}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expr }),
    });
    const { status, data, error } = (await answer.json()) as QueryAnswer;
    if (status !== 'success') throw new Error(`${expr}: ${error}`);
    return data.result;
  };

  /** The value of a query with one result, once Prometheus has scraped it. */
  const valueOf = (expr: string) =>
    expect.poll(async () => Number((await query(expr))[0]?.value[1]), { interval: 200 });

  const v1 = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const answer = await fetch(`${keelson.http}/v1/${path}`, {
      method,
      headers: { 'x-service-token': keelson.rootToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(answer.ok, `${method} ${path}`).toBe(true);
    return answer;
  };

  const api = async (method: string, path: string, attributes: object): Promise<void> => {
    const answer = await fetch(`${keelson.http}/api/v2/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({ data: { type: path.split('/').at(-1), attributes } }),
    });
    expect(answer.ok, `${method} ${path}`).toBe(true);
  };

  test('scrapes Keelson with a token that may do nothing else, and knows the rules', async () => {
    await valueOf('up{job="keelson"}').toBe(1);
    const answer = await fetch(`http://${address}/api/v1/rules`);
    const { data } = (await answer.json()) as { data: { groups: { rules: unknown[] }[] } };
    expect(data.groups.flatMap((group) => group.rules)).toHaveLength(rules.length);
    const token = readFileSync(join(directory, 'keelson-token'), 'utf8');
    const refused = await fetch(`${keelson.http}/v1/sys/mounts`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(refused.status).toBe(403);
  });

  test('sees what was issued, revoked and locked', async () => {
    await v1('POST', 'sys/mounts/ca', { type: 'pki' });
    await v1('POST', 'ca/root/generate/internal', { common_name: 'Root', ttl: '700h' });
    await v1('POST', 'ca/roles/web', { allow_any_name: true, ttl: '48h' });
    const issued = await v1('POST', 'ca/issue/web', { common_name: 'a.example.com' });
    await v1('POST', 'ca/issue/web', { common_name: 'b.example.com' });
    const { data } = (await issued.json()) as { data: { serial_number: string } };
    await v1('POST', 'ca/revoke', { serial_number: data.serial_number });
    await api('POST', 'organizations', { name: 'acme', email: 'a@example.com' });
    await api('POST', 'organizations/acme/workspaces', { name: 'web' });

    await valueOf('keelson_pki_certificates_issued_total').toBe(2);
    await valueOf('keelson_pki_certificates_revoked_total').toBe(1);
    expect(Number((await query('keelson_build_info'))[0]?.value[1])).toBe(1);
    // Gauges of the store are read again after 15 s, unless these are the first values.
    await valueOf('keelson_pki_certificates_expiring{within_days="7"}').toBeGreaterThanOrEqual(2);
    await valueOf('keelson_pki_certificates_expiring{within_days="1"}').toBe(0);
    await valueOf('keelson_pki_issuers').toBe(1);
    await valueOf('keelson_pki_issuer_next_expiry_timestamp_seconds - time()').toBeGreaterThan(
      690 * 3600,
    );
    await valueOf('keelson_workspaces').toBe(1);
    await valueOf('keelson_runs{status="pending"}').toBe(0);
    await valueOf('keelson_sealed').toBe(0);
    await valueOf('sum(keelson_store_bytes)').toBeGreaterThan(100_000);
  });

  test('its token can be renewed', async () => {
    const answer = await fetch(`${keelson.http}/v1/auth/token/renew-self`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readFileSync(join(directory, 'keelson-token'), 'utf8')}`,
      },
    });
    expect(answer.status).toBe(200);
  });

  test('answers every query of the dashboards', async () => {
    const empty: string[] = [];
    for (const { name, query: expr } of queries)
      if ((await query(expr)).length === 0) empty.push(name);
    // A single cluster has no replication and no NATS server; all other panels show something.
    expect(empty.filter((name) => !name.startsWith('Keelson: replication'))).toEqual([]);
  });

  const ringing = async (): Promise<readonly string[]> => {
    const answer = await fetch(`http://${address}/api/v1/alerts`);
    const { data } = (await answer.json()) as {
      data: { alerts: { state: string; labels: { alertname: string } }[] };
    };
    return data.alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels }) => labels.alertname);
  };

  test('rings when no audit device can write', async () => {
    const file_path = join(directory, 'audit', 'audit.log');
    mkdirSync(join(directory, 'audit'));
    await v1('PUT', 'sys/audit/file', { type: 'file', options: { file_path } });
    // The device opens its file again at SIGHUP, and finds a folder in its place.
    rmSync(file_path);
    mkdirSync(file_path);
    process.kill(keelson.pid, 'SIGHUP');
    await expect.poll(ringing).toContain('KeelsonAuditRefusals');
    rmSync(file_path, { recursive: true });
    process.kill(keelson.pid, 'SIGHUP');
    await expect
      .poll(async () => {
        const answer = await fetch(`${keelson.http}/v1/sys/audit/file`, {
          method: 'DELETE',
          headers: { 'x-service-token': keelson.rootToken },
        });
        return answer.status;
      })
      .toBe(204);
  });

  test('rings while Keelson is sealed, and does not say that it is down', async () => {
    await v1('PUT', 'sys/seal');
    await expect.poll(ringing).toContain('KeelsonSealed');
    await valueOf('up{job="keelson-replication"}').toBe(0);
    const names = await ringing();
    expect(names).not.toContain('KeelsonDown');
    expect(names).not.toContain('KeelsonReplicationMetricsRefused');
  });
});
