import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly } from '@keelson/storage';
import { byCreation } from '../../base/creation-order.ts';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import type { CallerAccess } from '../../identity/access/domain/caller-access.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import {
  requireOrganization,
  requireOrganizationOf,
} from '../../identity/access/organization-access-operations.ts';
import { requireWorkspace, type WorkspaceAccessResult } from '../access/access-operations.ts';
import { changeWorkspace } from '../access/workspace-change-operations.ts';
import { oauthTokenRecords } from '../model/oauth-records.ts';
import { type SshKey, sshKeyRecords } from '../model/ssh-key-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';

const mayManage = (caller: CallerAccess): boolean =>
  decideOrganizationPermissions(caller).canUpdateSshKeys;

/** @throws KeelsonError `workspace.not_found` */
export const requireSshKey = async (
  reads: Reads,
  principal: Principal,
  keyId: string,
): Promise<SshKey> => {
  const key = await sshKeyRecords.find(reads, keyId);
  if (key === undefined) throw notFound('SSH key');
  const { caller } = await requireOrganizationOf(reads, principal, key.organizationId, 'SSH key');
  if (!mayManage(caller)) throw notFound('SSH key');
  return key;
};

const requireName = (name: string): void => {
  if (name.trim() === '') refuseInvalid([attributeViolation('name', "Name can't be blank")]);
};

export const createSshKey = (
  { store, clock }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  given: { readonly name: string; readonly value: string },
): Promise<SshKey> =>
  store.transact(async (tx) => {
    const { organization, caller } = await requireOrganization(tx, principal, organizationName);
    if (!mayManage(caller)) throw notFound('organization');
    requireName(given.name);
    if (given.value.trim() === '') {
      refuseInvalid([attributeViolation('value', "Value can't be blank")]);
    }
    const key: SshKey = {
      id: newResourceId('sshkey'),
      organizationId: organization.id,
      name: given.name,
      value: given.value,
      createdAtMs: clock.nowMs(),
    };
    await sshKeyRecords.write(tx, [key.id], key);
    return key;
  });

export const renameSshKey = (
  { store }: WorkspacesContext,
  principal: Principal,
  keyId: string,
  name: string | undefined,
): Promise<SshKey> =>
  store.transact(async (tx) => {
    const key = await requireSshKey(tx, principal, keyId);
    if (name === undefined) return key;
    requireName(name);
    const next = { ...key, name };
    await sshKeyRecords.write(tx, [key.id], next);
    return next;
  });

/** Workspaces and OAuth tokens that use the key continue without one. */
export const deleteSshKey = (
  { store }: WorkspacesContext,
  principal: Principal,
  keyId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const key = await requireSshKey(tx, principal, keyId);
    await sshKeyRecords.delete(tx, key.id);
    for (const token of await oauthTokenRecords.by.sshKeyId.records(tx, key.id)) {
      await oauthTokenRecords.write(tx, [token.id], { ...token, sshKeyId: null });
    }
  });

/** Keys of the organization, oldest first. */
export const listSshKeys = async (
  { store }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
): Promise<readonly SshKey[]> => {
  const { organization, caller } = await requireOrganization(store, principal, organizationName);
  if (!mayManage(caller)) throw notFound('organization');
  const keys = await sshKeyRecords.by.organizationId.records(readableOnly(store), organization.id);
  return keys.toSorted(byCreation);
};

/** Assigns a key of the organization to a workspace, or removes the assignment. */
export const assignSshKey = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  sshKeyId: string | null,
): Promise<WorkspaceAccessResult> =>
  changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canUpdate'),
    async ({ workspace, caller }, tx) => {
      // An organization token may not see keys, so that it may not remove one either.
      if (caller.kind === 'organization') throw notFound('workspace');
      if (sshKeyId !== null) {
        const key = await sshKeyRecords.find(tx, sshKeyId);
        if (key?.organizationId !== workspace.organizationId) throw notFound('SSH key');
      }
      return { ...workspace, sshKeyId, updatedAtMs: context.clock.nowMs() };
    },
  );
