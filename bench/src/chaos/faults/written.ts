/** Writes of clients to a cluster while something is done to it, and what is found afterwards. */
import { setTimeout as delay } from 'node:timers/promises';
import { WriteLedger } from '@keelson/testkit';
import type { AddressedCluster } from '@keelson/testkit/replication-cluster';

const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const WRITERS = 4;
/** A writer that was refused tries its next write after this. */
const AFTER_REFUSAL_MS = 50;
const UNAVAILABLE = 503;
const FIRST_SERVER_ERROR = 500;
const RECOVERED_WITHIN_MS = 120_000;

/** A policy of sys or a role of pki, in turn. */
const write = async (cluster: AddressedCluster, key: string, turn: number): Promise<number> => {
  const { status } = await (turn % 2 === 0
    ? cluster.v1('POST', `sys/policies/acl/${key}`, { policy: POLICY })
    : cluster.v1('POST', `pki/roles/${key}`, { allow_any_name: true, key_type: 'ec' }));
  return status;
};

/** What `write` wrote and is there. */
export const heldBy = async (cluster: AddressedCluster): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const path of ['sys/policies/acl', 'pki/roles']) {
    const { status, body } = await cluster.v1('LIST', path);
    if (status !== 200) throw new Error(`LIST ${path}: ${status} ${JSON.stringify(body)}`);
    for (const key of body.data.keys) found.add(key);
  }
  return found;
};

/** A mount with an authority, for the roles. */
export const prepare = async (cluster: AddressedCluster): Promise<void> => {
  await cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' });
  for (;;) {
    const { status } = await cluster.v1('LIST', 'pki/roles');
    if (status === 404) return;
    await delay(AFTER_REFUSAL_MS);
  }
};

export class Writers {
  readonly ledger = new WriteLedger();
  /** Statuses that no client can act on, by their number. */
  readonly unclear = new Map<number, number>();
  readonly #writing: Promise<void>[];
  #isStopped = false;

  constructor(cluster: AddressedCluster, prefix: string) {
    this.#writing = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let turn = 0; !this.#isStopped; turn += 1) {
        const key = `${prefix}-${writer}-${turn}`;
        const status = await this.ledger.attempt(key, () => write(cluster, key, turn));
        if (status === undefined || status >= FIRST_SERVER_ERROR) await delay(AFTER_REFUSAL_MS);
        if (status !== undefined && status >= FIRST_SERVER_ERROR && status !== UNAVAILABLE)
          this.unclear.set(status, (this.unclear.get(status) ?? 0) + 1);
      }
    });
  }

  /** @returns after how many milliseconds so many more were acknowledged; undefined: not in time */
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
}
