import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import type { ApiToken, TokenOwnerKind } from '../model/domain/token.ts';

/** The principal that one kind of token authenticates, and who may manage such tokens. */
export interface TokenOwnerRules {
  /** The principal of the token; undefined when its owner has been deleted, or it has ended. */
  findPrincipal(reads: Reads, token: ApiToken, nowMs: number): Promise<Principal | undefined>;
  /** @throws KeelsonError `workspace.not_found` unless the caller may manage the owner's tokens */
  requireManager(reads: Reads, principal: Principal, ownerId: string): Promise<void>;
}

export type TokenOwners = Readonly<Record<TokenOwnerKind, TokenOwnerRules>>;
