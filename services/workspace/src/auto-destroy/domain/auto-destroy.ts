/**
 * When a workspace is destroyed by itself: at a time it names, or when nothing changed for a while, its
 * own while or the project's. Each such time is acted on once.
 */
import type { Project } from '../../projects/domain/project.ts';
import type { Workspace } from '../../workspaces/domain/workspace.ts';
import { parseActivityDurationMs } from '../../workspaces/domain/workspace-settings.ts';

export type AutoDestroyStatus = 'queued' | 'errored' | 'nothing-to-destroy';

/** What was done about one time. */
export interface AutoDestroyOutcome {
  readonly atMs: number;
  readonly status: AutoDestroyStatus;
}

type Facts = Pick<Workspace, 'settings' | 'latestChangeAtMs'>;

/** From the workspace's own settings; null without one. */
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
  const { autoDestroyAtMs, autoDestroyActivityDuration: own } = workspace.settings;
  if (autoDestroyAtMs !== null || own !== null) {
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
