/** Login enforcements, and the second factors that they ask of a login. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { findEntity, listAliasesOf } from '../identity/entity-records.ts';
import { findMemberships } from '../identity/group-membership-operations.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import { enforces, type FirstFactor, type LoginEnforcement } from './domain/login-enforcement.ts';
import type { MfaMethod } from './domain/mfa-method.ts';
import { requireEnforcedLogins } from './enforced-logins.ts';
import { findMethodFor } from './method-operations.ts';
import type { MfaContext } from './mfa-context.ts';
import {
  deleteEnforcementRecord,
  findEnforcement,
  listEnforcements,
  writeEnforcement,
} from './mfa-records.ts';

const MAX_ENFORCEMENTS = 100;

export type EnforcementDraft = Omit<LoginEnforcement, 'id' | 'namespaceId'>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * Writes an enforcement.
 * @throws KeelsonError `request.invalid` for methods, mounts, groups and entities that there are not, and where the
 *   enforcement would name no login
 */
export const putEnforcement = async (
  context: MfaContext,
  namespaceId: string,
  draft: EnforcementDraft,
): Promise<void> => {
  const namespaces = await context.namespaces();
  await context.store.transact(async (tx) => {
    const { methodIds, mountAccessors, mountTypes, groupIds, entityIds } = draft;
    if (methodIds.length === 0) refuse('mfa_method_ids is missing');
    if (mountAccessors.length + mountTypes.length + groupIds.length + entityIds.length === 0)
      refuse(
        'one of auth_method_accessors, auth_method_types, identity_group_ids and identity_entity_ids must be given',
      );
    for (const id of methodIds)
      if ((await findMethodFor(context, tx, namespaceId, id)) === undefined)
        refuse(`mfa_method_ids: there is no MFA method "${id}"`);
    await requireEnforcedLogins(tx, namespaces, namespaceId, draft);
    const former = await findEnforcement(tx, namespaceId, draft.name);
    const count = (await listEnforcements(tx)).filter(
      (one) => one.namespaceId === namespaceId,
    ).length;
    if (former === undefined && count >= MAX_ENFORCEMENTS)
      refuse(`a namespace has at most ${MAX_ENFORCEMENTS} login enforcements`);
    writeEnforcement(tx, { ...draft, id: former?.id ?? randomUUID(), namespaceId });
  });
};

export const readEnforcement = (
  { store }: MfaContext,
  namespaceId: string,
  name: string,
): Promise<LoginEnforcement | undefined> => findEnforcement(store, namespaceId, name);

/** Sorted by name. */
export const listEnforcementsOf = async (
  { store }: MfaContext,
  namespaceId: string,
): Promise<readonly LoginEnforcement[]> =>
  (await listEnforcements(store)).filter((one) => one.namespaceId === namespaceId);

/** Succeeds when there is none. */
export const deleteEnforcement = (
  { store }: MfaContext,
  namespaceId: string,
  name: string,
): Promise<void> =>
  store.transact((tx) => {
    deleteEnforcementRecord(tx, { namespaceId, name });
    return Promise.resolve();
  });

/** One of the methods is asked for. */
export interface Constraint {
  readonly name: string;
  readonly methods: readonly MfaMethod[];
}

/** The ids by which enforcements may name whoever signs in. */
const idsOf = async (
  { store }: MfaContext,
  entity: EntityRef | undefined,
): Promise<Pick<FirstFactor, 'entityIds' | 'groupIds'>> => {
  const found = entity && (await findEntity(store, entity.namespaceId, entity.id));
  if (found === undefined) return { entityIds: [], groupIds: new Set() };
  const { direct, inherited } = await findMemberships(
    store,
    found,
    await listAliasesOf(store, found),
  );
  return {
    entityIds: [found.id, ...found.mergedIds],
    groupIds: new Set([...direct, ...inherited].map(({ id }) => id)),
  };
};

/**
 * The second factors of a login, by the enforcements of the namespace of its mount and of those above it; none if the
 * first factor is enough.
 */
export const findConstraints = async (
  context: MfaContext,
  mount: FirstFactor['mount'] & { readonly namespaceId: string },
  entityOf: () => Promise<EntityRef | undefined>,
): Promise<readonly Constraint[]> => {
  const { all, damagedIn } = await context.enforcements();
  if (all.length === 0 && damagedIn.size === 0) return [];
  const table = await context.namespaces();
  const namespace = table.findById(mount.namespaceId);
  const lineage = new Set(
    namespace === undefined ? [] : table.lineageOf(namespace).map(({ id }) => id),
  );
  // Without it nobody knows which logins need a second factor.
  if ([...damagedIn].some((id) => lineage.has(id)))
    throw new KeelsonError('sys.mfa_failed', {
      text: 'a login enforcement is damaged: write it again, or delete it',
    });
  const near = all.filter(({ namespaceId }) => lineage.has(namespaceId));
  if (near.length === 0) return [];
  const login = { mount, ...(await idsOf(context, await entityOf())) };
  const constraints: Constraint[] = [];
  for (const enforcement of near) {
    if (!enforces(enforcement, login)) continue;
    const methods: MfaMethod[] = [];
    for (const id of enforcement.methodIds) {
      const method = await findMethodFor(context, context.store, enforcement.namespaceId, id);
      if (method !== undefined) methods.push(method);
    }
    constraints.push({ name: enforcement.name, methods });
  }
  return constraints;
};
