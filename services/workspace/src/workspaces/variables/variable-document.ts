import {
  API_PREFIX,
  type AttributesOf,
  choice,
  optionalRelationship,
  orNull,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { VARIABLE_CATEGORIES, type Variable, type VariableContent } from './domain/variable.ts';

export const VARIABLE = resourceSchema({
  type: 'vars',
  description: 'A variable of a workspace or of a variable set.',
  attributes: {
    key: Type.String(),
    value: orNull(Type.String({ description: 'Null for a sensitive variable.' })),
    sensitive: Type.Boolean(),
    category: choice(VARIABLE_CATEGORIES),
    hcl: Type.Boolean({
      description: 'Whether the value is an expression of the configuration language.',
    }),
    description: orNull(Type.String()),
    'created-at': timestamp(),
    'version-id': Type.String({ description: 'Changes with every write.' }),
  },
  relationships: {
    configurable: optionalRelationship(relatedOne('workspaces', 'linked')),
    varset: optionalRelationship(relatedOne('varsets', 'linked')),
    overwriter: optionalRelationship(relatedOne('vars')),
    overwritten: optionalRelationship(relatedMany('vars')),
  },
  links: ['self'],
});

/** Attributes of a variable of a workspace or set; a sensitive value is never shown. */
export const toVariableAttributes = (
  variable: VariableContent,
): AttributesOf<typeof VARIABLE.attributes> => ({
  key: variable.key,
  value: variable.sensitive ? null : variable.value,
  sensitive: variable.sensitive,
  category: variable.category,
  hcl: variable.hcl,
  description: variable.description,
  'created-at': toTimestamp(variable.createdAtMs),
  'version-id': variable.versionId,
});

/** A variable of a workspace. */
export const toVariableResource = (variable: Variable): ResourceOf<typeof VARIABLE> => {
  const workspace = `${API_PREFIX}/workspaces/${variable.workspaceId}`;
  return {
    id: variable.id,
    type: 'vars',
    attributes: toVariableAttributes(variable),
    relationships: { configurable: toOne('workspaces', variable.workspaceId, workspace) },
    links: { self: `${workspace}/vars/${variable.id}` },
  };
};
