/** Runs that are queued over the API, without the tool on this side. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import type { Answer, Installation } from './terraform-cli.ts';

const run = promisify(execFile);
const SETTLED_WITHIN_MS = 180_000;

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
  for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text);
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
export const settledStatus = ({ call }: Calls, runId: string): Promise<string> =>
  vi.waitFor(
    async () => {
      const { data } = await call('GET', `/runs/${runId}`);
      const status = String(data.attributes['status']);
      if (!ENDS.includes(status)) throw new Error(`${runId} is ${status}`);
      return status;
    },
    { timeout: SETTLED_WITHIN_MS, interval: 100 },
  );

export const logOf = async (
  { call }: Calls,
  runId: string,
  phase: 'plan' | 'apply' = 'plan',
): Promise<string> => {
  const kind = phase === 'plan' ? 'plans' : 'applies';
  const shown = need(await call('GET', `/${kind}/${runId.replace('run-', `${phase}-`)}`));
  return (await fetch(String(shown.attributes['log-read-url']))).text();
};

/** Waits until the log of a phase has a text. */
export const awaitLog = (
  calls: Calls,
  runId: string,
  phase: 'plan' | 'apply',
  text: string,
): Promise<void> =>
  vi.waitFor(
    async () => {
      const log = await logOf(calls, runId, phase);
      if (!log.includes(text)) throw new Error(`the log of ${runId} is:\n${log}`);
    },
    { timeout: SETTLED_WITHIN_MS, interval: 100 },
  );
