import {
  API_PREFIX,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { RunTriggerAccess } from './run-trigger-operations.ts';

export const RUN_TRIGGER = resourceSchema({
  type: 'run-triggers',
  description: 'An apply of the source queues a run of the workspace.',
  attributes: {
    'workspace-name': Type.String(),
    'sourceable-name': Type.String({ description: 'Name of the source.' }),
    'created-at': timestamp(),
  },
  relationships: { workspace: relatedOne('workspaces'), sourceable: relatedOne('workspaces') },
  links: ['self'],
});

export const toRunTriggerResource = ({
  trigger,
  workspace,
  source,
}: RunTriggerAccess): ResourceOf<typeof RUN_TRIGGER> => ({
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
