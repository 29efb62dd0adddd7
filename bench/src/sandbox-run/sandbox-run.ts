import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import {
  awaitAnswer,
  findBinary,
  type KeelsonProcess,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';
import { configurationWith } from '@keelson/testkit/planned-run';
import type { Bench } from '../bench.ts';
import { median } from '../median.ts';

const SMALL = 'resource "terraform_data" "one" { input = "small" }\n';
const ENDS = ['planned_and_finished', 'errored', 'canceled'];
const RUN_WITHIN_MS = 120_000;

interface Document {
  readonly data: { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };
}

const send = async (
  { http, apiToken }: KeelsonProcess,
  path: string,
  type: string,
  attributes: object,
  relationships = {},
): Promise<Document['data']> => {
  const response = await fetch(`${http}/api/v2${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiToken}`,
      'content-type': 'application/vnd.api+json',
    },
    body: JSON.stringify({ data: { type, attributes, relationships } }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as Document).data;
};

/** A workspace with a small configuration. */
const prepare = async (keelson: KeelsonProcess): Promise<string> => {
  await send(keelson, '/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const mode = { name: 'small', 'execution-mode': 'remote' };
  const { id } = await send(keelson, '/organizations/acme/workspaces', 'workspaces', mode);
  const path = `/workspaces/${id}/configuration-versions`;
  const version = await send(keelson, path, 'configuration-versions', { 'auto-queue-runs': false });
  await fetch(String(version.attributes['upload-url']), {
    method: 'PUT',
    body: configurationWith('main.tf', SMALL),
  });
  return id;
};

/** Milliseconds from the order of a plan to its end. */
const plan = async (keelson: KeelsonProcess, workspaceId: string): Promise<number> => {
  const startedAt = performance.now();
  const workspace = { data: { type: 'workspaces', id: workspaceId } };
  const { id } = await send(keelson, '/runs', 'runs', { 'plan-only': true }, { workspace });
  const headers = { authorization: `Bearer ${keelson.apiToken}` };
  const status = await awaitAnswer(
    { origin: keelson.http, headers },
    `/api/v2/runs/${id}`,
    ({ body }) => ENDS.find((end) => end === body?.data?.attributes?.status),
    RUN_WITHIN_MS,
  );
  if (status !== 'planned_and_finished') throw new Error(`the run ended with ${status}`);
  return performance.now() - startedAt;
};

export const sandboxRun: Bench = {
  name: 'sandbox-run',
  claim: 'The sandbox adds at most 300 ms to a run',
  method:
    'Two standalone processes, whose runner has a sandbox or none, plan the same small configuration in turn ' +
    'with the real terraform. Median of ten plans each, from the order to the end, without the first one.',
  run: async ({ quick, say }) => {
    await findBinary('terraform', 'terraform');
    await using folder = await temporaryDirectory();
    await chmod(folder.path, 0o711);
    await using started = new AsyncDisposableStack();
    const start = async (runner: string) => {
      const keelson = await startKeelson({
        dataFolder: join(folder.path, runner),
        env: {
          KEELSON_RATE_LIMIT: 'off',
          KEELSON_RUNNER: runner,
          KEELSON_RUNNER_FOLDER: join(folder.path, `runner-${runner}`),
        },
      });
      started.defer(async () => void (await keelson.stop()));
      const workspaceId = await prepare(keelson);
      await plan(keelson, workspaceId);
      return () => plan(keelson, workspaceId);
    };
    say('the first run of each');
    const [sandboxed, unsafe] = [await start('true'), await start('unsafe')];
    const [within, without]: [number[], number[]] = [[], []];
    for (let round = 0; round < (quick ? 1 : 10); round += 1) {
      say(`run ${round + 1}`);
      within.push(await sandboxed());
      without.push(await unsafe());
    }
    const value = median(within);
    const limit = median(without);
    return [
      { name: 'a plan in the sandbox', value, unit: 'ms', limit: { name: 'unsafe', value: limit } },
      { name: 'added by the sandbox (target: at most 300)', value: value - limit, unit: 'ms' },
    ];
  },
};
