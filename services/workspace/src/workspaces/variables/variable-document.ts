import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { Variable, VariableContent } from './domain/variable.ts';

/** Attributes of a variable of a workspace or set; a sensitive value is never shown. */
export const toVariableAttributes = (variable: VariableContent): Record<string, unknown> => ({
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
export const toVariableResource = (variable: Variable): Resource => {
  const workspace = `${API_PREFIX}/workspaces/${variable.workspaceId}`;
  return {
    id: variable.id,
    type: 'vars',
    attributes: toVariableAttributes(variable),
    relationships: { configurable: toOne('workspaces', variable.workspaceId, workspace) },
    links: { self: `${workspace}/vars/${variable.id}` },
  };
};
