import { orNull, type ResourceOf, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { derivedId } from '../../base/derived-id.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import type { ManagedInstance } from './domain/managed-instance.ts';

export const MANAGED_INSTANCE = resourceSchema({
  type: 'resources',
  description: 'Resources that a workspace manages, from its current state.',
  attributes: {
    address: Type.String({ description: 'As the provisioning tool writes it.' }),
    name: Type.String(),
    module: Type.String({ description: '`root`, or the address of the module.' }),
    provider: Type.String({ description: 'Source address, such as `hashicorp/null`.' }),
    'provider-type': Type.String({ description: 'Type of the resource.' }),
    'modified-by-state-version-id': orNull(Type.String()),
    'name-index': orNull(Type.String({ description: 'Null for a single instance.' })),
  },
});

/** @param modifiedById the version that last changed it, if known */
export const toManagedInstanceResource = (
  { id, state }: Workspace,
  instance: ManagedInstance,
  modifiedById: string | undefined,
): ResourceOf<typeof MANAGED_INSTANCE> => ({
  id: derivedId('wr', id, instance.address),
  type: 'resources',
  attributes: {
    address: instance.address,
    name: instance.name,
    module: instance.module,
    provider: instance.provider,
    'provider-type': instance.resourceType,
    // The current version is shown when no comparison has been recorded.
    'modified-by-state-version-id': modifiedById ?? state.currentId,
    'name-index': instance.key === null ? null : String(instance.key),
  },
});
