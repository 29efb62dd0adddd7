/** The tables for lists of workspaces: everything that the paths of records cannot sort, search or filter. */
import { defineProjection, type Projection } from '@keelson/storage';
import { autoDestroyOutcomes } from '../model/auto-destroy-records.ts';
import { ownAutoDestroyAtMs } from '../model/domain/auto-destroy.ts';
import { lockingOf } from '../model/domain/lock.ts';
import { runsOf } from '../model/domain/workspace-runs.ts';
import { parseActivityDurationMs } from '../model/domain/workspace-settings.ts';
import { stateOf } from '../model/domain/workspace-state.ts';
import { projectRecords } from '../model/project-records.ts';
import { workspaceLocks } from '../model/workspace-lock-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { workspaceRuns } from '../model/workspace-runs-records.ts';
import { workspaceStates } from '../model/workspace-state-records.ts';
import { toTagId } from './domain/tag-id.ts';

type WorkspaceRow = {
  readonly id: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly name_lower: string;
  readonly created_at: number;
  readonly latest_change_at: number;
  /** null when there is no run. */
  readonly current_run_status: string | null;
  /** `NO_RUN_AT` when there is no run. */
  readonly current_run_created_at: number;
  /** The opposite number, and `NO_RUN_AT` when there is no run: the newest run sorts first, and workspaces without a run last. */
  readonly current_run_newest_first: number;
  /** From the workspace's own settings, if not acted on yet; otherwise null. */
  readonly auto_destroy_at: number | null;
  /** 1 when the project's activity duration applies. */
  readonly inherits_auto_destroy: number;
  /** The last due time that was acted on, 0 if there was none. */
  readonly auto_destroy_handled_at: number;
  /** 1 while the workspace is locked, otherwise 0. */
  readonly is_locked: number;
  /** The user or team that has locked it; null for a run, and while it is not locked. */
  readonly locked_by: string | null;
};

type WorkspaceTagRow = {
  readonly workspace_id: string;
  /** The workspace's name, so that the workspaces of a tag can be read in order. */
  readonly name_lower: string;
  readonly organization_id: string;
  readonly tag_key: string;
  readonly tag_key_lower: string;
  /** 1 in the first row of a workspace with this key, ignoring case; otherwise 0. */
  readonly is_first_of_key: number;
  /** Null for a flat tag. */
  readonly tag_value: string | null;
  /** null for bindings with a value. */
  readonly tag_id: string | null;
  readonly created_at: number;
};

type ProjectRow = {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly name_lower: string;
};

type ProjectTagRow = {
  readonly project_id: string;
  readonly organization_id: string;
  readonly tag_key: string;
  readonly tag_key_lower: string;
  readonly tag_value: string | null;
};

type ProjectAutoDestroyRow = {
  readonly project_id: string;
  readonly duration_ms: number;
};

/** Sorts workspaces without a run after all that have one. */
const NO_RUN_AT = Number.MAX_SAFE_INTEGER;

/** Rows are keyed by the path of their record. */
interface OfRecord {
  readonly record_path: string;
}

/** The tables under the names that queries use. */
export interface WorkspaceTables {
  readonly workspace: WorkspaceRow & OfRecord;
  readonly workspace_tag: WorkspaceTagRow & OfRecord;
  readonly project: ProjectRow & OfRecord;
  readonly project_tag: ProjectTagRow;
  readonly project_auto_destroy: ProjectAutoDestroyRow;
}

/** Key under which the locked workspaces of all organizations are counted. */
export const LOCKED_KEY = 'locked';
/** Key under which the workspaces of a project are counted. */
export const inProjectKey = (organizationId: string, projectId: string): string =>
  `${organizationId}/project/${projectId}`;
/** @param scope organization id, or a key from `inProjectKey` */
export const withStatusKey = (scope: string, status: string): string => `${scope}/status/${status}`;

/**
 * Tally key of a binding: by its key, ignoring case, or by key and value; a missing value and "" are the
 * same.
 */
export const tagKey = (
  organizationId: string,
  key: string,
  value: string | null | undefined,
): string =>
  value === undefined
    ? `${organizationId}/${key.toLowerCase()}`
    : `${organizationId}/${key}/${value ?? ''}`;

export const LISTING_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'workspace',
    version: 8,
    source: workspaceRecords,
    parts: {
      state: workspaceStates,
      runs: workspaceRuns,
      locking: workspaceLocks,
      autoDestroyed: autoDestroyOutcomes,
    },
    columns: {
      id: 'text',
      organization_id: 'text',
      project_id: 'text',
      name_lower: 'text',
      created_at: 'integer',
      latest_change_at: 'integer',
      current_run_status: 'text',
      current_run_created_at: 'integer',
      current_run_newest_first: 'integer',
      auto_destroy_at: 'integer',
      inherits_auto_destroy: 'integer',
      auto_destroy_handled_at: 'integer',
      is_locked: 'integer',
      locked_by: 'text',
    },
    indexes: [
      ['organization_id', 'name_lower', 'id', 'project_id'],
      ['organization_id', 'latest_change_at', 'id'],
      ['organization_id', 'current_run_created_at', 'created_at', 'id'],
      ['organization_id', 'current_run_newest_first', 'created_at', 'id'],
      {
        columns: ['organization_id', 'current_run_status', 'name_lower', 'id'],
        present: 'current_run_status',
      },
      ['project_id', 'name_lower', 'id'],
      { columns: ['auto_destroy_at'], present: 'auto_destroy_at' },
      { columns: ['locked_by'], present: 'locked_by' },
    ],
    search: { column: 'name_lower', scope: 'organization_id' },
    tallies: ({
      organization_id,
      project_id,
      current_run_status: status,
      is_locked,
    }: WorkspaceRow) => {
      const scopes = [organization_id, inProjectKey(organization_id, project_id)];
      return [
        ...scopes,
        ...(status === null ? [] : scopes.map((scope) => withStatusKey(scope, status))),
        ...(is_locked === 1 ? [LOCKED_KEY] : []),
      ];
    },
    rows: (workspace, _, { state, runs, locking, autoDestroyed }): WorkspaceRow[] => {
      const { id, organizationId, projectId, name, settings, createdAtMs } = workspace;
      const { current } = runsOf(workspace, runs);
      const { lock } = lockingOf(workspace, locking);
      const lower = name.toLowerCase();
      const { latestChangeAtMs } = stateOf(workspace, state);
      const ownAtMs = ownAutoDestroyAtMs({ settings, latestChangeAtMs });
      const handledAtMs = (workspace.autoDestroyed ?? autoDestroyed)?.atMs ?? 0;
      return [
        {
          id,
          organization_id: organizationId,
          project_id: projectId,
          name_lower: lower,
          created_at: createdAtMs,
          latest_change_at: latestChangeAtMs,
          current_run_status: current?.status ?? null,
          current_run_created_at: current?.createdAtMs ?? NO_RUN_AT,
          current_run_newest_first: -(current?.createdAtMs ?? -NO_RUN_AT),
          auto_destroy_at: ownAtMs === null || ownAtMs === handledAtMs ? null : ownAtMs,
          inherits_auto_destroy: Number(ownAtMs === null && settings.inheritsProjectAutoDestroy),
          auto_destroy_handled_at: handledAtMs,
          is_locked: Number(lock !== null),
          locked_by: lock === null || lock.holder.kind === 'run' ? null : lock.holder.id,
        },
      ];
    },
  }) as unknown as Projection,
  defineProjection({
    table: 'workspace_tag',
    version: 1,
    source: workspaceRecords,
    columns: {
      workspace_id: 'text',
      name_lower: 'text',
      organization_id: 'text',
      tag_key: 'text',
      tag_key_lower: 'text',
      is_first_of_key: 'integer',
      tag_value: 'text',
      tag_id: 'text',
      created_at: 'integer',
    },
    indexes: [
      ['organization_id', 'tag_key_lower', 'tag_key', 'tag_value', 'name_lower', 'workspace_id'],
      // Index for whether a workspace has a tag; rows created together are stored close to each
      // other.
      ['workspace_id', 'tag_key_lower', 'tag_key', 'tag_value'],
      { columns: ['organization_id', 'tag_id'], present: 'tag_id' },
    ],
    tallies: ({ organization_id, tag_key, is_first_of_key, tag_value }: WorkspaceTagRow) => [
      ...(is_first_of_key === 1 ? [tagKey(organization_id, tag_key, undefined)] : []),
      tagKey(organization_id, tag_key, tag_value),
    ],
    rows: ({ id, organizationId, name, tagBindings }): WorkspaceTagRow[] => {
      const keys = tagBindings.map(({ key }) => key.toLowerCase());
      return tagBindings.map(({ key, value, createdAtMs }, at) => ({
        workspace_id: id,
        name_lower: name.toLowerCase(),
        organization_id: organizationId,
        tag_key: key,
        tag_key_lower: key.toLowerCase(),
        is_first_of_key: Number(keys.indexOf(key.toLowerCase()) === at),
        tag_value: value,
        tag_id: value === null ? toTagId(organizationId, key) : null,
        created_at: createdAtMs,
      }));
    },
  }) as unknown as Projection,
  defineProjection({
    table: 'project',
    version: 2,
    source: projectRecords,
    columns: { id: 'text', organization_id: 'text', name: 'text', name_lower: 'text' },
    indexes: [
      ['organization_id', 'name'],
      ['organization_id', 'name_lower'],
    ],
    search: { column: 'name_lower', scope: 'organization_id' },
    tallies: ({ organization_id }: ProjectRow) => [organization_id],
    rows: ({ id, organizationId, name }): ProjectRow[] => [
      { id, organization_id: organizationId, name, name_lower: name.toLowerCase() },
    ],
  }) as unknown as Projection,
  defineProjection({
    table: 'project_tag',
    version: 1,
    source: projectRecords,
    columns: {
      project_id: 'text',
      organization_id: 'text',
      tag_key: 'text',
      tag_key_lower: 'text',
      tag_value: 'text',
    },
    indexes: [['organization_id', 'tag_key_lower', 'tag_key', 'tag_value', 'project_id']],
    rows: ({ id, organizationId, tagBindings }): ProjectTagRow[] =>
      tagBindings.map(({ key, value }) => ({
        project_id: id,
        organization_id: organizationId,
        tag_key: key,
        tag_key_lower: key.toLowerCase(),
        tag_value: value,
      })),
  }) as unknown as Projection,
  defineProjection({
    table: 'project_auto_destroy',
    version: 1,
    source: projectRecords,
    columns: { project_id: 'text', duration_ms: 'integer' },
    indexes: [['project_id']],
    rows: ({ id, autoDestroyActivityDuration }): ProjectAutoDestroyRow[] => {
      const durationMs = parseActivityDurationMs(autoDestroyActivityDuration ?? '');
      return durationMs === undefined ? [] : [{ project_id: id, duration_ms: durationMs }];
    },
  }) as unknown as Projection,
];
