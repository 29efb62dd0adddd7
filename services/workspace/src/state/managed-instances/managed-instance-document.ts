import { orNull, type ResourceOf, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { derivedId } from '../../base/derived-id.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import type { ManagedInstance } from './domain/managed-instance.ts';

export const MANAGED_INSTANCE = resourceSchema({
  type: 'resources',
  description: 'Resources that a workspace manages, from its current state.',
  attributes: {
    address: Type.String({
      description:
        'As the provisioning tool writes it, without the word `module`: `network.aws_vpc.main`.',
    }),
    name: Type.String(),
    module: Type.String({
      description: '`root`, or the address of the module, also without the word.',
    }),
    provider: Type.String({ description: 'Source address, such as `hashicorp/null`.' }),
    'provider-type': Type.String({ description: 'Type of the resource.' }),
    'modified-by-state-version-id': orNull(Type.String()),
    'name-index': orNull(Type.String({ description: 'Null for a single instance.' })),
  },
});

/** A quoted instance key, or the word at the beginning of a step of the address. */
const KEY_OR_WORD = /"(?:[^"\\]|\\.)*"|(?<=^|[.\]])module\./g;

/** Public clients know addresses without the word that stands before each module. */
const withoutWord = (address: string): string =>
  address.replaceAll(KEY_OR_WORD, (found) => (found.startsWith('"') ? found : ''));

/** @param modifiedById the version that last changed it */
export const toManagedInstanceResource = (
  { id }: Workspace,
  instance: ManagedInstance,
  modifiedById: string | null,
): ResourceOf<typeof MANAGED_INSTANCE> => ({
  id: derivedId('wr', id, instance.address),
  type: 'resources',
  attributes: {
    address: withoutWord(instance.address),
    name: instance.name,
    module: withoutWord(instance.module),
    provider: instance.provider,
    'provider-type': instance.resourceType,
    'modified-by-state-version-id': modifiedById,
    'name-index': instance.key === null ? null : String(instance.key),
  },
});
