/** The agent's side of the API: see services/workspace/README.md, Agents. */
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { FoundCommit } from '@keelson/repositories';
import { reasonOf } from './failure-reason.ts';
import { NotRegular, openRegular } from './regular-file.ts';

const MEDIA_TYPE = 'application/vnd.api+json';

export interface PhaseVariable {
  readonly key: string;
  readonly value: string;
  readonly category: 'terraform' | 'env';
  readonly hcl: boolean;
  readonly sensitive: boolean;
}

/** A token for an audience that variables of the workspace name. */
export interface WorkloadToken {
  /** "WORKLOAD_IDENTITY" for one that the run itself presents, else a provider such as "VAULT". */
  readonly purpose: string;
  /** Tag of the variables; "" without one. */
  readonly tag: string;
  /** "" if it cannot be had. */
  readonly token: string;
}

/** Attributes of an agent run, as the control plane writes them. */
export interface PhaseAttributes {
  readonly phase: 'plan' | 'apply';
  readonly status: string;
  readonly 'organization-name': string;
  readonly 'workspace-id': string;
  readonly 'workspace-name': string;
  readonly 'working-directory': string;
  /** The release that was chosen; null if none satisfies the constraint. */
  readonly 'runtime-version': string | null;
  /** As the workspace has it: a release, a constraint or `latest`. */
  readonly 'runtime-version-constraint': string;
  readonly 'is-destroy': boolean;
  readonly refresh: boolean;
  readonly 'refresh-only': boolean;
  /** Whether the run only detects drift. */
  readonly 'is-assessment': boolean;
  /** The only places that the run may reach, by the setting of its pool; null if that does not limit it. */
  readonly 'allowed-egress'?: readonly string[] | null;
  readonly 'target-addrs': readonly string[];
  readonly 'replace-addrs': readonly string[];
  readonly 'cancel-requested-at': string | null;
  readonly variables: readonly PhaseVariable[];
  readonly 'configuration-download-url': string;
  readonly 'state-download-url': string | null;
  readonly 'plan-file-upload-url'?: string;
  readonly 'plan-file-download-url'?: string;
  readonly 'json-output-upload-url'?: string;
  readonly 'json-output-redacted-upload-url'?: string;
  readonly 'json-schema-upload-url'?: string;
  readonly 'errored-state-upload-url'?: string;
  readonly token?: string;
  /** Private key of the workspace for modules in repositories; only in the answer to a claim. */
  readonly 'ssh-private-key'?: string;
  /** With which the phase signs in elsewhere; only in the answer to a claim. */
  readonly 'workload-identity-tokens'?: readonly WorkloadToken[];
}

/** A phase with the agent that has claimed it. */
export type ClaimedPhase = Phase & { readonly agentId: string };

export interface Phase {
  readonly runId: string;
  /** Revoked when the phase ends. */
  readonly token: string;
  readonly attributes: PhaseAttributes;
}

/** Whether the agent pool of a phase limits what its run reaches. */
export const isEgressLimited = ({ attributes }: Phase): boolean =>
  (attributes['allowed-egress'] ?? null) !== null;

/** The control plane was reached and refused the request. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** Whether the token or the resource no longer exists: the work has ended or was reassigned. */
export const isGone = (error: unknown): boolean =>
  error instanceof Refused && (error.status === 401 || error.status === 404);

const isTransient = (error: unknown): boolean =>
  !(error instanceof NotRegular) &&
  (!(error instanceof Refused) || error.status === 429 || error.status >= 500);

const RETRY_PAUSES_MS = [250, 500, 1000, 2000, 4000, 8000, 15_000, 30_000];

/** `fetch`, whose errors name the address and the reason. */
const reach = async (url: string, init?: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw new Error(`${new URL(url).origin} cannot be reached: ${reasonOf(error)}`, {
      cause: error,
    });
  }
};

/** Retries for about a minute while the control plane is unreachable or unavailable. */
const insisting = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (const delayMs of RETRY_PAUSES_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await pause(delayMs);
    }
  }
  return attempt();
};

interface JsonDocument {
  readonly data: {
    readonly id: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly relationships?: { readonly agent?: { readonly data?: { readonly id: string } } };
  };
}

const toPhase = ({ data }: JsonDocument): Phase => {
  const attributes = data.attributes as unknown as PhaseAttributes;
  return { runId: data.id, token: attributes.token ?? '', attributes };
};

const refusalText = async (response: Response): Promise<string> =>
  `${response.status} ${(await response.text().catch(() => '')).slice(0, 500)}`;

export interface RegisteredAgent {
  readonly id: string;
  readonly pingSeconds: number;
}

export type PhaseEnd =
  | {
      readonly status: 'finished';
      readonly 'has-changes'?: boolean;
      readonly 'resource-additions'?: number;
      readonly 'resource-changes'?: number;
      readonly 'resource-destructions'?: number;
      readonly 'resource-imports'?: number;
    }
  | { readonly status: 'errored' }
  | { readonly status: 'canceled' };

export interface StateAnnouncement {
  readonly serial: number;
  /** Hexadecimal, of the uploaded bytes. */
  readonly md5: string;
  readonly lineage: string;
  readonly isIntermediate: boolean;
}

export interface StateUploadUrls {
  readonly state: string;
  readonly jsonState: string;
}

/** A commit that is to be fetched and packed. */
export interface FetchOrder {
  readonly kind: 'fetch';
  readonly attributes: {
    readonly 'clone-url': string;
    readonly username: string;
    readonly token: string;
    /** For submodules. */
    readonly 'ssh-private-key'?: string;
    /** Null means the default branch. */
    readonly ref: string | null;
    /** Nothing is fetched unless this is the default branch. */
    readonly 'only-if-default-branch': string | null;
    readonly 'base-sha': string | null;
    readonly 'time-limit-seconds': number;
    readonly 'limit-bytes': number;
    readonly 'archive-limit-bytes': number;
  };
}

/** A request to the API of a provider. */
export interface RequestOrder {
  readonly kind: 'request';
  readonly attributes: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
    readonly 'time-limit-seconds': number;
    readonly 'answer-limit-bytes': number;
  };
}

/** A piece of work at a repository, which ends within its time limit or waits for another agent. */
export interface RepositoryWork {
  readonly id: string;
  readonly order: FetchOrder | RequestOrder;
}

/** An archive of a commit that the control plane wants. */
export interface WantedArchive {
  readonly withSubmodules: boolean;
  readonly uploadUrl: string;
}

export type RepositoryWorkEnd =
  | {
      readonly status: 'finished';
      readonly 'answer-status'?: number;
      readonly 'answer-body'?: string;
    }
  | {
      readonly status: 'errored';
      readonly 'error-message': string;
      /** Another attempt would fail in the same way. */
      readonly 'is-final': boolean;
      /** The work ended the process that did it. */
      readonly 'worker-died': boolean;
    };

export class ControlPlane {
  readonly #address: string;
  readonly #poolToken: string;

  constructor(address: string, poolToken: string) {
    this.#address = address;
    this.#poolToken = poolToken;
  }

  async #call(
    token: string,
    method: string,
    path: string,
    data?: object,
  ): Promise<JsonDocument | undefined> {
    const response = await reach(`${this.#address}/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, accept: MEDIA_TYPE, 'content-type': MEDIA_TYPE },
      ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
    });
    if (!response.ok) {
      throw new Refused(response.status, `${method} ${path}: ${await refusalText(response)}`);
    }
    const text = await response.text();
    return text === '' ? undefined : (JSON.parse(text) as JsonDocument);
  }

  async register(name: string, version: string): Promise<RegisteredAgent> {
    const attributes = { name, version };
    const answer = await this.#call(this.#poolToken, 'POST', '/agents', {
      type: 'agents',
      attributes,
    });
    if (answer === undefined) throw new Error('the control plane answered nothing');
    return {
      id: answer.data.id,
      pingSeconds: Number(answer.data.attributes['ping-interval-seconds'] ?? 10),
    };
  }

  /** @param status set when the agent has no phase or exits; absent if it continues */
  async ping(agentId: string, status?: 'idle' | 'exited'): Promise<RegisteredAgent> {
    const attributes = status === undefined ? {} : { status };
    const data = { type: 'agents', attributes };
    const answer = await this.#call(this.#poolToken, 'PATCH', `/agents/${agentId}`, data);
    return {
      id: agentId,
      pingSeconds: Number(answer?.data.attributes['ping-interval-seconds'] ?? 10),
    };
  }

  /** Resolves to undefined when no work is waiting. */
  async claim(agentId: string): Promise<ClaimedPhase | undefined> {
    const data = { type: 'agents', id: agentId };
    const answer = await this.#call(this.#poolToken, 'POST', '/agent-runs/actions/claim', data);
    return answer && { ...toPhase(answer), agentId };
  }

  /**
   * The same for the built-in runner, which has no pool. The agent that comes with the phase is for `ping`.
   * @param runtimeVersions releases of the tool that it has: one of them is chosen for the phase
   */
  async claimAsRunner(
    name: string,
    version: string,
    runtimeVersions: readonly string[],
  ): Promise<ClaimedPhase | undefined> {
    const attributes = { name, version, 'runtime-versions': runtimeVersions };
    const data = { type: 'agents', attributes };
    const answer = await this.#call(this.#poolToken, 'POST', '/runner/actions/claim', data);
    const agentId = answer?.data.relationships?.agent?.data?.id;
    if (answer === undefined || agentId === undefined) return undefined;
    return { ...toPhase(answer), agentId };
  }

  /** Whether the phase has to stop. */
  async isCancelRequested({ runId, token }: Phase): Promise<boolean> {
    const answer = await this.#call(token, 'GET', `/agent-runs/${runId}`);
    return answer?.data.attributes['cancel-requested-at'] != null;
  }

  async writeLog({ runId, token }: Phase, text: string): Promise<void> {
    const data = { type: 'logs', attributes: { text } };
    await insisting(() => this.#call(token, 'POST', `/agent-runs/${runId}/logs`, data));
  }

  async report({ runId, token }: Phase, attributes: PhaseEnd): Promise<void> {
    const data = { type: 'agent-runs', attributes };
    await insisting(() => this.#call(token, 'PATCH', `/agent-runs/${runId}`, data));
  }

  /** Resolves to undefined when no work at repositories is waiting for the pool. */
  async claimRepositoryWork(agentId: string): Promise<RepositoryWork | undefined> {
    const data = { type: 'agents', id: agentId };
    const path = '/agent-repository-work/actions/claim';
    const answer = await this.#call(this.#poolToken, 'POST', path, data);
    if (answer === undefined) return undefined;
    const { kind, ...attributes } = answer.data.attributes;
    return {
      id: answer.data.id,
      order: { kind, attributes } as unknown as RepositoryWork['order'],
    };
  }

  /** Reports the commit that was found. @returns the archives of it that are wanted */
  async reportCommit(
    workId: string,
    { defaultBranch, commit, changedFiles }: FoundCommit,
  ): Promise<readonly WantedArchive[]> {
    const attributes = { 'default-branch': defaultBranch, commit, 'changed-files': changedFiles };
    const data = { type: 'agent-repository-work', attributes };
    const path = `/agent-repository-work/${workId}/actions/report-commit`;
    const answer = await insisting(() => this.#call(this.#poolToken, 'POST', path, data));
    const archives = answer?.data.attributes['archives'] as
      | readonly { readonly 'with-submodules': boolean; readonly 'upload-url': string }[]
      | undefined;
    return (archives ?? []).map((one) => ({
      withSubmodules: one['with-submodules'],
      uploadUrl: one['upload-url'],
    }));
  }

  async endRepositoryWork(workId: string, attributes: RepositoryWorkEnd): Promise<void> {
    const data = { type: 'agent-repository-work', attributes };
    const path = `/agent-repository-work/${workId}`;
    await insisting(() => this.#call(this.#poolToken, 'PATCH', path, data));
  }

  /** Announces a state of the run's workspace. */
  async announceState(
    { token, attributes }: Phase,
    { serial, md5, lineage, isIntermediate }: StateAnnouncement,
  ): Promise<StateUploadUrls> {
    const data = {
      type: 'state-versions',
      attributes: { serial, md5, lineage, intermediate: isIntermediate },
    };
    const path = `/workspaces/${attributes['workspace-id']}/state-versions`;
    const answer = await insisting(() => this.#call(token, 'POST', path, data));
    const given = answer?.data.attributes;
    return {
      state: String(given?.['hosted-state-upload-url']),
      jsonState: String(given?.['hosted-json-state-upload-url']),
    };
  }
}

/** Downloads from a signed URL into a file. */
export const download = (url: string, file: string): Promise<void> =>
  insisting(async () => {
    const response = await reach(url);
    if (!response.ok || response.body === null) {
      throw new Refused(response.status, `download: ${await refusalText(response)}`);
    }
    await writeFile(file, Readable.fromWeb(response.body));
  });

/** Uploads a file to a signed URL. */
export const upload = (url: string, file: string): Promise<void> =>
  insisting(async () => {
    await using handle = await openRegular(file);
    const { size } = await handle.stat();
    const response = await reach(url, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
      body: Readable.toWeb(
        handle.createReadStream({ autoClose: false }),
      ) as ReadableStream<Uint8Array>,
      duplex: 'half',
    });
    if (!response.ok) throw new Refused(response.status, `upload: ${await refusalText(response)}`);
    await response.arrayBuffer();
  });
