/**
 * Records that decisions depend on and that cannot be decrypted. Each kind affects what depends on it and
 * nothing else; this register shows operators which records are damaged.
 */
import type { Logger } from '@keelson/logging';

/** Consequences of a damaged record, by kind; part of the log message. */
const CONSEQUENCES = {
  policies: 'tokens with them may do nothing',
  mounts: 'they are unavailable and keep their data; their namespaces accept no new mounts',
  namespaces: 'they and everything below them are unavailable; no namespace can be created',
  audit_devices: 'they accept no entry: without another device, requests are refused',
  login_enforcements: 'logins of their namespaces and of those below are refused',
  quotas: 'the requests that they limit are not limited',
  lease_quotas: 'the leases that they limit are not limited',
  engine_types: 'mounts of these types are unavailable until their service joins again',
} as const;

export type DamageKind = keyof typeof CONSEQUENCES;

/** Called at every read with the keys of all damaged records of a kind, also when there are none. */
export type OnDamage = (keys: readonly string[]) => void;

export class DamageRegister {
  readonly #logger: Logger;
  readonly #damaged = new Map<DamageKind, readonly string[]>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The callback for views of records of this kind. */
  of(kind: DamageKind): OnDamage {
    return (keys) => {
      const isNews = keys.join('\n') !== (this.#damaged.get(kind) ?? []).join('\n');
      this.#damaged.set(kind, keys);
      if (isNews && keys.length > 0)
        this.#logger.error({ kind, records: keys }, `damaged records: ${CONSEQUENCES[kind]}`);
    };
  }

  /** Number of damaged records of each kind, as of the last read. */
  counts(): readonly (readonly [DamageKind, number])[] {
    return (Object.keys(CONSEQUENCES) as DamageKind[]).map((kind) => [
      kind,
      this.#damaged.get(kind)?.length ?? 0,
    ]);
  }
}
