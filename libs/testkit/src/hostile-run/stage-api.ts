/** Requests of users of the stage's control plane. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { KeelsonProcess } from '../keelson-process.ts';
import { awaitAnswer, awaitLogText, type LiveSite } from '../live-answers.ts';
import type { JsonObject } from '../planned-run.ts';
import { HANGING } from './attempt.ts';

type Files = Readonly<Record<string, string>>;

const ENDS = ['planned', 'planned_and_finished', 'applied', 'errored', 'canceled', 'discarded'];
/** Time in which the control plane answers, on a busy machine as well. */
const ANSWER_WITHIN_MS = 60_000;
const READY_WITHIN = 60;
const PAUSE_MS = 500;
const LARGE_BYTES = 4 * 1024 * 1024;
const TRIVIAL_RUN_WITHIN_MS = 60_000;

const pack = (files: Files): Buffer => {
  const folder = mkdtempSync('/mnt/pack-');
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o755 });
  }
  execFileSync('tar', ['-czf', `${folder}.tar.gz`, '-C', folder, '.']);
  const archive = readFileSync(`${folder}.tar.gz`);
  rmSync(folder, { recursive: true });
  rmSync(`${folder}.tar.gz`);
  return archive;
};

export class StageApi {
  readonly #keelson: () => KeelsonProcess;
  #trivial: string | undefined;
  #names = 0;
  #pool: { readonly organization: string; readonly id: string } | undefined;

  constructor(keelson: () => KeelsonProcess) {
    this.#keelson = keelson;
  }

  get #site(): LiveSite {
    const { http, apiToken } = this.#keelson();
    return { origin: http, headers: { authorization: `Bearer ${apiToken}` } };
  }

  #send(method: string, path: string, body?: unknown, token?: string): Promise<Response> {
    const { http, apiToken } = this.#keelson();
    return fetch(`${http}/api/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token ?? apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async #call(method: string, path: string, body?: unknown): Promise<JsonObject> {
    const answer = await this.#send(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  async createOrganization(name: string): Promise<void> {
    const attributes = { name, email: 'a@b.example' };
    await this.#call('POST', '/organizations', { data: { type: 'organizations', attributes } });
  }

  /** A pool of agents, which executes the runs of an organization from now on. @returns its token */
  async createPool(organization: string): Promise<string> {
    const pool = await this.#call('POST', `/organizations/${organization}/agent-pools`, {
      data: { type: 'agent-pools', attributes: { name: 'pool' } },
    });
    this.#pool = { organization, id: pool.data.id };
    const token = await this.#call('POST', `/agent-pools/${pool.data.id}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: 'stage' } },
    });
    return token.data.attributes.token;
  }

  /** A workspace with environment variables and an SSH key. */
  async createWorkspace(
    organization: string,
    name: string,
    variables: Readonly<Record<string, string>> = {},
    key?: string,
  ): Promise<string> {
    const mode =
      this.#pool?.organization === organization
        ? { 'execution-mode': 'agent', 'agent-pool-id': this.#pool.id }
        : { 'execution-mode': 'remote' };
    const made = await this.#call('POST', `/organizations/${organization}/workspaces`, {
      data: { type: 'workspaces', attributes: { name, ...mode } },
    });
    const id = made.data.id as string;
    for (const [variable, value] of Object.entries(variables))
      await this.#call('POST', `/workspaces/${id}/vars`, {
        data: { type: 'vars', attributes: { key: variable, value, category: 'env' } },
      });
    if (key !== undefined) {
      const stored = await this.#call('POST', `/organizations/${organization}/ssh-keys`, {
        data: { type: 'ssh-keys', attributes: { name, value: key } },
      });
      await this.#call('PATCH', `/workspaces/${id}/relationships/ssh-key`, {
        data: { type: 'workspaces', attributes: { id: stored.data.id } },
      });
    }
    return id;
  }

  async queueRun(workspaceId: string, files: Files, isPlanOnly: boolean): Promise<string> {
    const made = await this.#call('POST', `/workspaces/${workspaceId}/configuration-versions`, {
      data: { type: 'configuration-versions', attributes: { 'auto-queue-runs': false } },
    });
    const sent = await fetch(String(made.data.attributes['upload-url']), {
      method: 'PUT',
      body: new Uint8Array(pack(files)),
    });
    if (!sent.ok) throw new Error(`the upload ended with ${sent.status}`);
    const attributes = isPlanOnly ? { 'plan-only': true } : { 'auto-apply': true };
    const workspace = { data: { type: 'workspaces', id: workspaceId } };
    const queued = await this.#call('POST', '/runs', {
      data: { type: 'runs', attributes, relationships: { workspace } },
    });
    return queued.data.id;
  }

  /** Waits until nobody works on the run; its status, or HANGING after the time. */
  async settled(runId: string, withinMs: number): Promise<string> {
    const wanted = ({ body }: { readonly body: JsonObject }): string | undefined => {
      const status = body?.data?.attributes?.status as string;
      return ENDS.includes(status) ? status : undefined;
    };
    return awaitAnswer(this.#site, `/api/v2/runs/${runId}`, wanted, withinMs).catch(
      async (error: unknown) => {
        const now = await this.#call('GET', `/runs/${runId}`).catch(() => undefined);
        if (now === undefined) throw error;
        const status = now.data.attributes.status as string;
        return ENDS.includes(status) ? status : HANGING;
      },
    );
  }

  async isRunning(runId: string): Promise<boolean> {
    return (await this.#call('GET', `/runs/${runId}`)).data.attributes.status === 'planning';
  }

  async cancel(runId: string): Promise<void> {
    await this.#send('POST', `/runs/${runId}/actions/cancel`).catch(() => undefined);
  }

  async #logAddress(runId: string, phase: 'plan' | 'apply'): Promise<string> {
    const kind = phase === 'plan' ? 'plans' : 'applies';
    const shown = await this.#call('GET', `/${kind}/${runId.replace('run-', `${phase}-`)}`);
    return String(shown.data.attributes['log-read-url']);
  }

  async logOf(runId: string, phase: 'plan' | 'apply'): Promise<string> {
    return (await fetch(await this.#logAddress(runId, phase))).text();
  }

  async awaitLog(runId: string, phase: 'plan' | 'apply', text: string): Promise<void> {
    await awaitLogText(this.#site, await this.#logAddress(runId, phase), text);
  }

  async isPlainLog(runId: string): Promise<boolean> {
    const { headers } = await fetch(await this.#logAddress(runId, 'plan'));
    return (
      headers.get('content-type')?.startsWith('text/plain') === true &&
      headers.get('x-content-type-options') === 'nosniff'
    );
  }

  /** The states that a run has stored, as the new state or as the errored one. */
  async stored(runId: string, workspaceId: string): Promise<string> {
    const apply = `/applies/${runId.replace('run-', 'apply-')}/errored-state`;
    const texts = await Promise.all([
      this.#send('GET', apply).then((answer) => answer.text()),
      this.#call('GET', `/workspaces/${workspaceId}/current-state-version`).then(
        async ({ data }) =>
          (await fetch(String(data.attributes['hosted-state-download-url']))).text(),
        () => '',
      ),
    ]);
    return texts.join('\n');
  }

  async answerTo(method: string, path: string, token: string): Promise<number> {
    return (await this.#send(method, path, undefined, token)).status;
  }

  async canWrite(): Promise<boolean> {
    this.#names += 1;
    return this.createWorkspace('victim', `written-${this.#names}`).then(
      () => true,
      () => false,
    );
  }

  /** Waits until the control plane stores files, after its start or the end of a run that has filled its disk. */
  async awaitStorage(): Promise<void> {
    for (let tries = 0; tries < READY_WITHIN; tries += 1) {
      if (await this.canStore()) return;
      await pause(PAUSE_MS);
    }
    throw new Error('the control plane stores nothing any more');
  }

  async #findTrivial(): Promise<string> {
    this.#trivial ??= await this.createWorkspace(this.#pool?.organization ?? 'victim', 'trivial');
    return this.#trivial;
  }

  /** Whether a configuration of some megabytes is stored. */
  async canStore(): Promise<boolean> {
    const large = randomBytes(LARGE_BYTES).toString('base64');
    const queued = this.#findTrivial().then((id) =>
      this.queueRun(id, { attempt: 'true', large }, true),
    );
    return queued.then(
      () => true,
      () => false,
    );
  }

  async canRun(files: Files): Promise<boolean> {
    const runId = await this.queueRun(await this.#findTrivial(), files, true);
    return (await this.settled(runId, TRIVIAL_RUN_WITHIN_MS)) === 'planned_and_finished';
  }
}
