/** Client writes to a cluster during a fault, and the data found afterwards. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { findBroken, WriteLedger } from '@keelson/testkit';
import type { AddressedCluster, Answer } from '@keelson/testkit/replication-cluster';

const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const ORGANIZATION = 'chaos';
const PAGE_SIZE = 100;
const WRITERS = 4;
/** Number of records read in parallel when a cluster is checked. */
const READERS = 8;
/** Pause of a writer after a refusal. */
const AFTER_REFUSAL_MS = 50;
const UNAVAILABLE = 503;
const FIRST_CLIENT_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
const RECOVERED_WITHIN_MS = 120_000;
/** Maximum number of root comparisons: after a fault the secondary needs time to catch up. */
const COMPARISONS = 1200;

/** A policy of sys, a role of pki, a workspace, a certificate, a workspace with a state. */
export type WriteKind = 'policy' | 'role' | 'workspace' | 'certificate' | 'state';

/**
 * Without certificates, which are local to a performance secondary, for trials that write to two
 * clusters.
 */
export const SHARED_KINDS: readonly WriteKind[] = ['policy', 'role'];
export const ALL_KINDS: readonly WriteKind[] = ['policy', 'role', 'workspace', 'certificate'];

const write = (cluster: AddressedCluster, kind: WriteKind, key: string): Promise<Answer> => {
  switch (kind) {
    case 'policy':
      return cluster.v1('POST', `sys/policies/acl/${key}`, { policy: POLICY });
    case 'role':
      return cluster.v1('POST', `pki/roles/${key}`, { allow_any_name: true, key_type: 'ec' });
    case 'workspace':
      return cluster.api('POST', `organizations/${ORGANIZATION}/workspaces`, {
        data: { type: 'workspaces', attributes: { name: key } },
      });
    case 'certificate':
      return cluster.v1('POST', 'pki/issue/leaf', { common_name: `${key}.example.com`, ttl: '1h' });
    case 'state':
      return writeState(cluster, key);
  }
};

const stateOf = (key: string): string =>
  JSON.stringify({
    version: 4,
    serial: 1,
    lineage: key,
    outputs: { padding: { value: key.repeat(2000), type: 'string' } },
    resources: [],
  });

/** The answer to the first of its requests that is refused, or to the last. */
const writeState = async (cluster: AddressedCluster, key: string): Promise<Answer> => {
  const made = await write(cluster, 'workspace', key);
  if (made.status >= 300) return made;
  const path = `workspaces/${made.body.data.id}`;
  const locked = await cluster.api('POST', `${path}/actions/lock`, {});
  if (locked.status >= 300) return locked;
  const state = Buffer.from(stateOf(key));
  const attributes = {
    serial: 1,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  };
  return cluster.api('POST', `${path}/state-versions`, {
    data: { type: 'state-versions', attributes },
  });
};

/** Whether the workspace has the state that was written, whole. */
const holdsState = async (cluster: AddressedCluster, key: string): Promise<boolean> => {
  const workspace = await cluster.api('GET', `organizations/${ORGANIZATION}/workspaces/${key}`);
  if (workspace.status !== 200) return false;
  const path = `workspaces/${workspace.body.data.id}/current-state-version`;
  const version = await cluster.api('GET', path);
  if (version.status !== 200) return false;
  const response = await fetch(version.body.data.attributes['hosted-state-download-url']);
  return (await response.text()) === stateOf(key);
};

/** @throws Error with what the answer says, when it is a refusal */
const found = ({ status, body }: Answer): Answer['body'] => {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};

const listed = async (cluster: AddressedCluster, path: string): Promise<readonly string[]> => {
  const answer = await cluster.v1('LIST', path);
  return answer.status === 404 ? [] : found(answer).data.keys;
};

interface ShownWorkspace {
  readonly id: string;
  readonly attributes: { readonly name: string };
}

const listedWorkspaces = async (cluster: AddressedCluster): Promise<readonly ShownWorkspace[]> => {
  const all: ShownWorkspace[] = [];
  const path = `organizations/${ORGANIZATION}/workspaces?page[size]=${PAGE_SIZE}&page[number]=`;
  for (let page = 1; ; page += 1) {
    const { data } = found(await cluster.api('GET', `${path}${page}`));
    all.push(...data);
    if (data.length < PAGE_SIZE) return all;
  }
};

/** Names of the policies and roles on the cluster that `write` creates. */
export const heldBy = async (cluster: AddressedCluster): Promise<ReadonlySet<string>> =>
  new Set([
    ...(await listed(cluster, 'sys/policies/acl')),
    ...(await listed(cluster, 'pki/roles')),
  ]);

/** A mount with an authority and a role, and an organization. */
export const prepare = async (cluster: AddressedCluster): Promise<void> => {
  await cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' });
  while ((await cluster.v1('LIST', 'pki/roles')).status !== 404) await delay(AFTER_REFUSAL_MS);
  const root = { common_name: 'Root', key_type: 'ec', ttl: '87600h' };
  found(await cluster.v1('POST', 'pki/root/generate/internal', root));
  found(await cluster.v1('POST', 'pki/roles/leaf', { allow_any_name: true, key_type: 'ec' }));
  const attributes = { name: ORGANIZATION, email: 'chaos@example.com' };
  const { status, body } = await cluster.api('POST', 'organizations', {
    data: { type: 'organizations', attributes },
  });
  if (status !== 201) throw new Error(`organization: ${status} ${JSON.stringify(body)}`);
};

const inParallel = async <T>(
  items: readonly T[],
  look: (item: T) => Promise<string | undefined>,
): Promise<readonly string[]> => {
  const rest = [...items];
  const sentences: string[] = [];
  await Promise.all(
    Array.from({ length: READERS }, async () => {
      for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
        const sentence = await look(item);
        if (sentence !== undefined) sentences.push(sentence);
      }
    }),
  );
  return sentences;
};

const isCorrupted = async (cluster: AddressedCluster): Promise<boolean> =>
  found(await cluster.v1('POST', 'sys/replication/merkle-check')).data.merkle_corruption_report
    .corrupted_root;

/**
 * A sentence for each partial write: a workspace that is listed but not found by name or id, a
 * certificate that is listed but not shown, a tree that differs from the records.
 */
const findPartialWrites = async (cluster: AddressedCluster): Promise<readonly string[]> => [
  ...(await inParallel(await listedWorkspaces(cluster), async ({ id, attributes: { name } }) => {
    const byName = await cluster.api('GET', `organizations/${ORGANIZATION}/workspaces/${name}`);
    const byId = await cluster.api('GET', `workspaces/${id}`);
    const isWhole = byName.body?.data?.id === id && byId.body?.data?.attributes.name === name;
    return isWhole ? undefined : `workspace ${name} is there in part`;
  })),
  ...(await inParallel(await listed(cluster, 'pki/certs'), async (serial) => {
    const { body } = await cluster.v1('GET', `pki/cert/${serial}`);
    const isWhole = String(body?.data?.certificate).includes('BEGIN CERTIFICATE');
    return isWhole ? undefined : `certificate ${serial} is there in part`;
  })),
  ...((await isCorrupted(cluster)) ? ['the records are not those of the Merkle trees'] : []),
];

export class Writers {
  readonly ledger = new WriteLedger();
  /** Server errors that no client can act on, and how often each came. */
  readonly unclear = new Map<string, number>();
  /** Writes answered with 503 and `Retry-After`. */
  retriable = 0;
  /** Whether a server that answers is about to stop or start, and may say so with 503. */
  isDisturbed = true;
  /** Issued certificates: key of the write and serial number. */
  readonly #serials = new Map<string, string>();
  /** Keys of the writes of states. */
  readonly #states = new Set<string>();
  readonly #kinds: readonly WriteKind[];
  readonly #writing: Promise<void>[];
  #acknowledgedAtMs = performance.now();
  #longestPauseMs = 0;
  #isStopped = false;

  constructor(
    cluster: AddressedCluster,
    prefix: string,
    { kinds, pauseMs = 0 }: { readonly kinds: readonly WriteKind[]; readonly pauseMs?: number },
  ) {
    this.#kinds = kinds;
    this.#writing = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let turn = 0; !this.#isStopped; turn += 1) {
        const key = `${prefix}-${writer}-${turn}`;
        const kind = kinds[turn % kinds.length] ?? 'policy';
        if (kind === 'state') this.#states.add(key);
        const status = await this.ledger.attempt(key, async () => {
          const answer = await write(cluster, kind, key);
          this.#judge(answer);
          const serial = answer.body?.data?.serial_number as string | undefined;
          if (kind === 'certificate' && serial !== undefined) this.#serials.set(key, serial);
          return answer.status;
        });
        if (status !== undefined && status < FIRST_CLIENT_ERROR) this.#recordAcknowledged();
        const isRefused = status === undefined || status >= FIRST_SERVER_ERROR;
        if (isRefused || pauseMs > 0) await delay(isRefused ? AFTER_REFUSAL_MS : pauseMs);
      }
    });
  }

  #judge({ status, headers, body }: Answer): void {
    if (status < FIRST_SERVER_ERROR) return;
    const isRetriable = status === UNAVAILABLE && headers.has('retry-after');
    if (isRetriable) this.retriable += 1;
    if (isRetriable && this.isDisturbed) return;
    const answer = `${status}${isRetriable ? ' although nothing stops or starts' : ''}: ${JSON.stringify(body?.errors)}`;
    this.unclear.set(answer, (this.unclear.get(answer) ?? 0) + 1);
  }

  #recordAcknowledged(): void {
    const nowMs = performance.now();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, nowMs - this.#acknowledgedAtMs);
    this.#acknowledgedAtMs = nowMs;
  }

  /** The longest time between two acknowledged writes since the last call, in milliseconds. */
  takeLongestPauseMs(): number {
    const longestMs = this.#longestPauseMs;
    this.#longestPauseMs = 0;
    return longestMs;
  }

  /**
   * @returns the milliseconds until `more` further writes were acknowledged; undefined if that took
   * too long
   */
  async untilAcknowledged(more: number): Promise<number | undefined> {
    const startedAt = performance.now();
    const wanted = this.ledger.acknowledged.length + more;
    while (this.ledger.acknowledged.length < wanted) {
      if (performance.now() - startedAt > RECOVERED_WITHIN_MS) return undefined;
      await delay(AFTER_REFUSAL_MS);
    }
    return performance.now() - startedAt;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#writing);
  }

  /** The writes that are present. */
  async heldBy(cluster: AddressedCluster): Promise<ReadonlySet<string>> {
    const held = new Set(await heldBy(cluster));
    if (this.#kinds.includes('workspace'))
      for (const { attributes } of await listedWorkspaces(cluster)) held.add(attributes.name);
    if (this.#kinds.includes('state'))
      await inParallel([...this.#states], async (key) => {
        if (!(await holdsState(cluster, key))) held.delete(key);
        return undefined;
      });
    if (this.#kinds.includes('certificate')) {
      const serials = new Set(await listed(cluster, 'pki/certs'));
      for (const [key, serial] of this.#serials) if (serials.has(serial)) held.add(key);
    }
    return held;
  }

  /** Serial numbers that were handed out more than once. */
  get repeatedSerials(): readonly string[] {
    const seen = new Set<string>();
    return [...this.#serials.values()].filter((serial) => seen.size === seen.add(serial).size);
  }
}

/**
 * A sentence for each promise that was broken, once the writers are stopped.
 * @param secondary a DR secondary of `primary`
 */
export const findBrokenPromises = async (
  writers: Writers,
  primary: AddressedCluster,
  secondary: AddressedCluster,
): Promise<readonly string[]> => {
  const rootOf = (cluster: AddressedCluster) => async (): Promise<string> =>
    (await cluster.status('dr'))?.merkle_root as string;
  return [
    ...(await findBroken({
      ledger: writers.ledger,
      held: await writers.heldBy(primary),
      roots: { 'the secondary': [rootOf(primary), rootOf(secondary)] },
      comparisons: COMPARISONS,
    })),
    ...(await findPartialWrites(primary)),
    ...writers.repeatedSerials.map((serial) => `serial number ${serial} was handed out twice`),
    ...[...writers.unclear].map(([answer, often]) => `${often} answers ${answer}`),
  ];
};
