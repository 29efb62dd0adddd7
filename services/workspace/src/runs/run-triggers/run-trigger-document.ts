import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { RunTriggerAccess } from './run-trigger-operations.ts';

export const toRunTriggerResource = ({
  trigger,
  workspace,
  source,
}: RunTriggerAccess): Resource => ({
  id: trigger.id,
  type: 'run-triggers',
  attributes: {
    'workspace-name': workspace.workspace.name,
    'sourceable-name': source.workspace.name,
    'created-at': toTimestamp(trigger.createdAtMs),
  },
  relationships: {
    workspace: toOne('workspaces', trigger.workspaceId),
    sourceable: toOne('workspaces', trigger.sourceId),
  },
  links: { self: `${API_PREFIX}/run-triggers/${trigger.id}` },
});
