/** Runs that are queued over the API, without the tool on this side. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { awaitLogText } from '@keelson/testkit';
import type { Answer, Installation } from './terraform-cli.ts';

const run = promisify(execFile);

export type Calls = Pick<Installation, 'call'>;

const need = (answer: Answer): Answer['data'] => {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.document)}`);
  return answer.data;
};

export const createOrganization = async ({ call }: Calls, name: string): Promise<void> => {
  const attributes = { name, email: 'a@b.example' };
  need(await call('POST', '/organizations', { data: { type: 'organizations', attributes } }));
};

export const createWorkspace = async (
  { call }: Calls,
  organization: string,
  name: string,
  values: object = {},
): Promise<string> => {
  const attributes = { name, ...values };
  const data = { type: 'workspaces', attributes };
  return need(await call('POST', `/organizations/${organization}/workspaces`, { data })).id;
};

/** Uploads files as the configuration of a workspace; no run follows. */
export const uploadConfiguration = async (
  { call, folder }: Pick<Installation, 'call' | 'folder'>,
  workspaceId: string,
  files: Readonly<Record<string, string>>,
): Promise<void> => {
  const place = await folder(`configuration-${workspaceId}-${Object.keys(files).length}`);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(place, dirname(name)), { recursive: true });
    await writeFile(join(place, name), text);
  }
  const archive = `${place}.tar.gz`;
  await run('tar', ['-czf', archive, '-C', place, '.']);
  const attributes = { 'auto-queue-runs': false };
  const version = need(
    await call('POST', `/workspaces/${workspaceId}/configuration-versions`, {
      data: { type: 'configuration-versions', attributes },
    }),
  );
  const sent = await fetch(String(version.attributes['upload-url']), {
    method: 'PUT',
    body: await readFile(archive),
  });
  if (!sent.ok) throw new Error(`the upload ended with ${sent.status}`);
};

export const tryQueueRun = (
  { call }: Calls,
  workspaceId: string,
  attributes: object = {},
): Promise<Answer> =>
  call('POST', '/runs', {
    data: {
      type: 'runs',
      attributes,
      relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } } },
    },
  });

export const queueRun = async (calls: Calls, workspaceId: string, attributes: object = {}) =>
  need(await tryQueueRun(calls, workspaceId, attributes)).id;

const ENDS = ['planned', 'planned_and_finished', 'applied', 'errored', 'canceled', 'discarded'];

/** Waits until nobody works on the run; its status then. */
export const settledStatus = async (
  { until }: Pick<Installation, 'until'>,
  runId: string,
): Promise<string> => {
  const statusIn = ({ data }: Answer) => String(data.attributes['status']);
  return statusIn(await until(`/runs/${runId}`, (run) => ENDS.includes(statusIn(run))));
};

const logAddress = async (
  { call }: Calls,
  runId: string,
  phase: 'plan' | 'apply',
): Promise<string> => {
  const kind = phase === 'plan' ? 'plans' : 'applies';
  const shown = need(await call('GET', `/${kind}/${runId.replace('run-', `${phase}-`)}`));
  return String(shown.attributes['log-read-url']);
};

export const logOf = async (
  calls: Calls,
  runId: string,
  phase: 'plan' | 'apply' = 'plan',
): Promise<string> => (await fetch(await logAddress(calls, runId, phase))).text();

/** Waits until the log of a phase has a text. */
export const awaitLog = async (
  installation: Pick<Installation, 'call' | 'live'>,
  runId: string,
  phase: 'plan' | 'apply',
  text: string,
): Promise<void> =>
  awaitLogText(installation.live, await logAddress(installation, runId, phase), text);
