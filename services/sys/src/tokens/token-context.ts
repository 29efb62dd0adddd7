/** Dependencies of the operations on tokens. */
import type { Clock } from '@keelson/clock';
import type { Barrier, Store, Transaction } from '@keelson/storage';
import type { Identity } from '../policies/domain/path-template.ts';
import type { TokenPlan } from './domain/token-creation.ts';
import type { EntityRef, TokenEntry } from './domain/token-entry.ts';
import type { TokenTtls } from './domain/token-lifetime.ts';

/** Removes data that belongs to a token (leases, cubbyhole) in the transaction that removes the token. */
export type TokenRemovalHook = (tx: Transaction, token: TokenEntry) => Promise<void> | void;

/** The rights that an entity and its groups add to those of its tokens. */
export interface EntityRights {
  /** Sorted, without duplicates. */
  readonly policies: readonly string[];
  /** Its own id, and those of the entities that were merged into it, by which other records may still name it. */
  readonly entityIds: readonly string[];
  readonly identity: Identity;
}

/** In seconds. */
export interface RenewalLimits {
  /** 0 means no limit. */
  readonly maxTtlSeconds: number;
  readonly periodSeconds: number;
  /** The lifetime of a renewal that asks for none. */
  readonly ttlSeconds: number;
}

export interface TokenContext {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** Lifetimes of tokens of a namespace, as its mount auth/token/ is tuned. */
  readonly ttlsOf: (namespaceId: string) => Promise<TokenTtls>;
  /** Whether a mount with this uuid exists; a token ends with the mount of its login. */
  readonly isMounted: (uuid: string) => Promise<boolean>;
  /** Undefined for an entity that is disabled or deleted, with which its tokens end. */
  readonly identityOf: (entity: EntityRef) => Promise<EntityRights | undefined>;
  readonly onRemoved: readonly TokenRemovalHook[];
  /**
   * Called in the transaction that stores a service token of a login or request.
   * @throws KeelsonError `request.lease_quota_exceeded`
   */
  readonly requireRoom: (tx: Transaction, plan: TokenPlan) => Promise<void>;
}

/** Finds or creates an entity in the transaction that stores its token, if this cluster may. */
export type EntityProvider = (tx: Transaction) => Promise<EntityRef | undefined>;

export interface CreationContext extends TokenContext {
  /** The entity of an alias at the mount auth/token/ of a namespace. */
  readonly entityOfAlias: (namespaceId: string, name: string) => Promise<EntityProvider>;
}

export interface RenewalContext extends TokenContext {
  /**
   * The limits of a token that a login made; undefined for any other.
   * @param certificates DER: that of the client, then intermediate ones
   * @throws KeelsonError when the login would be refused now
   */
  readonly loginLimits: (
    token: TokenEntry,
    certificates: readonly Buffer[],
  ) => Promise<RenewalLimits | undefined>;
}
