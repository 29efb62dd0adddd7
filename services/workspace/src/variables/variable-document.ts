import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { Variable } from './domain/variable.ts';

/** A variable; the value of a sensitive one is shown to nobody. */
export const toVariableResource = (variable: Variable): Resource => {
  const workspace = `${API_PREFIX}/workspaces/${variable.workspaceId}`;
  return {
    id: variable.id,
    type: 'vars',
    attributes: {
      key: variable.key,
      value: variable.sensitive ? null : variable.value,
      sensitive: variable.sensitive,
      category: variable.category,
      hcl: variable.hcl,
      description: variable.description,
      'created-at': toTimestamp(variable.createdAtMs),
      'version-id': variable.versionId,
    },
    relationships: { configurable: toOne('workspaces', variable.workspaceId, workspace) },
    links: { self: `${workspace}/vars/${variable.id}` },
  };
};
