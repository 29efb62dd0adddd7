/** Records of Keelson as a provider of OpenID Connect. */
import {
  collection,
  deriveView,
  type Reads,
  type RecordCollection,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { Type } from 'typebox';
import { dueKeys, expirySeconds } from '../owners/expiry.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type Authorization, authorizationShape } from './domain/authorization.ts';
import {
  assignmentShape,
  type Client,
  clientShape,
  providerShape,
  scopeShape,
} from './domain/client.ts';
import { dueMsOf, namedKeyShape } from './domain/named-key.ts';
import { identityRoleShape } from './domain/token-role.ts';

/** The declaration that the records found by a namespace and a name have in common. */
const named = { scope: 'shared', version: 1, keys: 'paths', owner: OF_NAMESPACE } as const;

/** Keys: the id of the namespace. */
export const oidcSettings = collection('oidc-settings', {
  ...named,
  /** `issuer` is "" for the public address. */
  shape: Type.Object({ issuer: Type.String() }),
});

/** Keys: "<namespace id>/<name>", as of the following. */
export const namedKeys = collection('oidc-keys', { ...named, shape: namedKeyShape });
export const identityRoles = collection('oidc-roles', { ...named, shape: identityRoleShape });
export const scopes = collection('oidc-scopes', { ...named, shape: scopeShape });
export const assignments = collection('oidc-assignments', { ...named, shape: assignmentShape });
export const providers = collection('oidc-providers', { ...named, shape: providerShape });

export const clients = collection('oidc-clients', {
  ...named,
  shape: clientShape,
  index: [{ name: 'clientId', values: ({ clientId }) => [clientId], unique: true, ofOwner: true }],
});

/** Keys: "<namespace id>/<hash of the code>". A code is redeemed at the cluster that has issued it. */
const codes = collection('oidc-codes', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: authorizationShape,
  owner: OF_NAMESPACE,
  index: [
    { name: 'expiry', values: ({ expiresAtMs }) => [expirySeconds(expiresAtMs)] },
    { name: 'entity', values: ({ entity }) => [[entity.namespaceId, entity.id]] },
  ],
});

/** The records of a namespace with their names, sorted. */
export const listNamed = async <T>(
  reads: Reads,
  records:
    | Pick<RecordCollection<T>, 'below'>
    | { below(...key: readonly string[]): Pick<RecordCollection<T>, 'entries'> },
  namespaceId: string,
): Promise<readonly (readonly [string, T])[]> => records.below(namespaceId).entries(reads);

/** An id that is no segment of a path belongs to no client. */
export const findClientById = async (
  reads: Reads,
  namespaceId: string,
  clientId: string,
): Promise<Client | undefined> =>
  /^\w{1,64}$/.test(clientId)
    ? clients.by.clientId.find(reads, [namespaceId, clientId])
    : undefined;

/** The keys of all namespaces, the next one that is due first; computed when a key has changed. */
export const followDueKeys = (
  store: Store,
): (() => Promise<readonly { readonly key: string; readonly dueMs: number }[]>) =>
  deriveView(store, [namedKeys.prefix], async (reads) => {
    const { entries } = await namedKeys.readableEntries(reads);
    return entries
      .map(([key, record]) => ({ key, dueMs: dueMsOf(record) }))
      .sort((one, other) => one.dueMs - other.dueMs);
  });

export interface CodeRef {
  readonly namespaceId: string;
  readonly hash: string;
}

const keyOf = ({ namespaceId, hash }: CodeRef): string => `${namespaceId}/${hash}`;

export const writeCode = (tx: Transaction, ref: CodeRef, code: Authorization): Promise<void> =>
  codes.write(tx, keyOf(ref), code);

/** Codes of an entity that are not redeemed, at most `limit`. */
export const countCodesOf = async (
  reads: Reads,
  { id, namespaceId }: Authorization['entity'],
  limit: number,
): Promise<number> => (await codes.by.entity.rests(reads, [namespaceId, id], { limit })).length;

/** The authorization of a code, which is then gone. */
export const takeCode = async (
  tx: Transaction,
  ref: CodeRef,
): Promise<Authorization | undefined> => {
  const found = await codes.find(tx, keyOf(ref));
  if (found !== undefined) await codes.delete(tx, keyOf(ref));
  return found;
};

/** Deletes codes that have expired, at most `limit`. @returns how many */
export const deleteExpiredCodes = async (
  tx: Transaction,
  nowMs: number,
  limit: number,
): Promise<number> => {
  const due = dueKeys(await codes.by.expiry.rests(tx, [], { limit }), nowMs);
  for (const key of due) await codes.delete(tx, key);
  return due.length;
};
