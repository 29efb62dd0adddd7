/**
 * When a workspace destroys itself: at a set time, or after a period without changes, given by the workspace
 * or its project. Each due time is acted on once.
 */
import type { Project } from './project.ts';
import type { Workspace } from './workspace.ts';
import { parseActivityDurationMs } from './workspace-settings.ts';
import type { WorkspaceState } from './workspace-state.ts';

type Facts = Pick<Workspace, 'settings'> & Pick<WorkspaceState, 'latestChangeAtMs'>;

/** From the workspace's own settings; null if they set none. */
export const ownAutoDestroyAtMs = ({ settings, latestChangeAtMs }: Facts): number | null => {
  if (settings.autoDestroyAtMs !== null) return settings.autoDestroyAtMs;
  const durationMs = parseActivityDurationMs(settings.autoDestroyActivityDuration ?? '');
  return durationMs === undefined ? null : latestChangeAtMs + durationMs;
};

export interface AutoDestroyPlan {
  readonly atMs: number | null;
  readonly activityDuration: string | null;
  readonly inheritsFromProject: boolean;
}

export const decideAutoDestroy = (
  workspace: Facts,
  project: Pick<Project, 'autoDestroyActivityDuration'>,
): AutoDestroyPlan => {
  const {
    autoDestroyAtMs,
    autoDestroyActivityDuration: own,
    inheritsProjectAutoDestroy: inherits,
  } = workspace.settings;
  if (autoDestroyAtMs !== null || own !== null || !inherits) {
    return {
      atMs: ownAutoDestroyAtMs(workspace),
      activityDuration: own,
      inheritsFromProject: false,
    };
  }
  const inherited = project.autoDestroyActivityDuration;
  const durationMs = parseActivityDurationMs(inherited ?? '');
  return {
    atMs: durationMs === undefined ? null : workspace.latestChangeAtMs + durationMs,
    activityDuration: inherited,
    inheritsFromProject: true,
  };
};
