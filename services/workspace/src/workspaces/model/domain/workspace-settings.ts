/** Settings in create and update requests: combinations that are refused, and the resulting values. */

import type { ExecutionMode } from '../../../base/execution/domain/execution.ts';
import { attributeViolation, type Violation } from '../../../base/validation/domain/violation.ts';
import { compileExpression } from './linear-expression.ts';
import { isAtLeast, resolveRuntimeVersion } from './runtime-version.ts';
import { checkTriggerPaths } from './trigger-paths.ts';
import type { VcsRepository, WorkspaceSettings } from './workspace.ts';
import { FIRST_ASSESSING_RELEASE } from './workspace-assessments.ts';

export type VcsRepositoryInput = { readonly [K in keyof VcsRepository]?: VcsRepository[K] | null };

/** Absent attributes keep their values. */
export type SettingsInput = {
  readonly [K in keyof Omit<WorkspaceSettings, 'vcsRepo'>]?: WorkspaceSettings[K];
} & { readonly vcsRepo?: VcsRepositoryInput | null };

const DURATION = /^(\d{1,4})([dh])$/;
const HOUR_MS = 3_600_000;

/** `14d` or `6h` in milliseconds; undefined when it is neither or zero. */
export const parseActivityDurationMs = (text: string): number | undefined => {
  const [, digits, unit] = DURATION.exec(text) ?? [];
  const count = Number(digits);
  if (!(count > 0)) return undefined;
  return count * (unit === 'd' ? 24 * HOUR_MS : HOUR_MS);
};

const DURATION_TEXT =
  "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";

/** @param duration absent and null mean none */
export const checkActivityDuration = (duration: string | null | undefined): readonly Violation[] =>
  duration == null || parseActivityDurationMs(duration) !== undefined
    ? []
    : [attributeViolation('auto-destroy-activity-duration', DURATION_TEXT)];

const checkInheritance = ({
  inheritsProjectAutoDestroy,
  autoDestroyAtMs,
  autoDestroyActivityDuration,
}: SettingsInput): readonly Violation[] =>
  inheritsProjectAutoDestroy === true && (autoDestroyAtMs || autoDestroyActivityDuration)
    ? [
        attributeViolation(
          'inherits-project-auto-destroy',
          'inherits-project-auto-destroy cannot be true with auto-destroy-at or auto-destroy-activity-duration',
        ),
      ]
    : [];

const checkVcsRepository = (
  given: VcsRepositoryInput,
  current: VcsRepository | null,
): readonly Violation[] => {
  const violations: Violation[] = [];
  const refuse = (name: string, text: string) =>
    violations.push(attributeViolation(`vcs-repo/${name}`, text));
  // null keeps the current value, while an empty text would clear it.
  if (!(given.identifier ?? current?.identifier)) {
    refuse('identifier', 'identifier is required');
  }
  if (!(given.oauthTokenId ?? current?.oauthTokenId))
    refuse('oauth-token-id', 'oauth-token-id is required');
  if (given.identifier && !/^[^/\s]+(\/[^/\s]+)+$/.test(given.identifier)) {
    refuse('identifier', 'identifier must have the form :org/:repo');
  }
  if (given.tagsRegex && compileExpression(given.tagsRegex) === undefined) {
    refuse(
      'tags-regex',
      'tags-regex is not a regular expression in the syntax of RE2, which has no look-around and no back-references',
    );
  }
  return violations;
};

/**
 * Triggers: file patterns, file prefixes and Git tags exclude each other. Patterns and prefixes replace each
 * other; Git tags must be removed before either is set, and the reverse.
 */
const checkTriggers = (
  given: SettingsInput,
  current: WorkspaceSettings | undefined,
): readonly Violation[] => {
  const violations: Violation[] = [
    ...checkTriggerPaths('patterns', given.triggerPatterns),
    ...checkTriggerPaths('prefixes', given.triggerPrefixes),
  ];
  if (given.triggerPatterns?.length && given.triggerPrefixes?.length) {
    violations.push(
      attributeViolation(
        'trigger-patterns',
        'trigger-patterns and trigger-prefixes cannot both be set',
      ),
    );
  }
  const givenTags = given.vcsRepo === null ? null : given.vcsRepo?.tagsRegex;
  const tags = givenTags === undefined ? current?.vcsRepo?.tagsRegex : givenTags;
  if (!tags) return violations;
  const others = [
    [given.triggerPatterns, current?.triggerPatterns, 'trigger-patterns'],
    [given.triggerPrefixes, current?.triggerPrefixes, 'trigger-prefixes'],
  ] as const;
  for (const [paths, present, name] of others) {
    const isGiven = givenTags !== undefined || paths !== undefined;
    if (!isGiven || (paths ?? present ?? []).length === 0) continue;
    violations.push(
      givenTags === undefined
        ? attributeViolation(name, `${name} cannot be set with tags-regex`)
        : attributeViolation('vcs-repo/tags-regex', `tags-regex cannot be set with ${name}`),
    );
  }
  // True is the default, so that it conflicts only when the request sets it.
  if (given.fileTriggersEnabled === true && givenTags !== undefined) {
    violations.push(
      attributeViolation(
        'vcs-repo/tags-regex',
        'tags-regex cannot be set with file-triggers-enabled',
      ),
    );
  } else if (given.fileTriggersEnabled === true && current?.fileTriggersEnabled === false) {
    violations.push(
      attributeViolation(
        'file-triggers-enabled',
        'file-triggers-enabled cannot be set with tags-regex',
      ),
    );
  }
  return violations;
};

const leavesWorkspaceRoot = (directory: string): boolean => directory.split(/[/\\]/).includes('..');

export const checkSettings = (
  given: SettingsInput,
  current: WorkspaceSettings | undefined,
  releases: readonly string[],
): readonly Violation[] => {
  const { autoDestroyActivityDuration: duration, runtimeVersion, vcsRepo } = given;
  const violations = [...checkActivityDuration(duration), ...checkInheritance(given)];
  if (
    runtimeVersion !== undefined &&
    resolveRuntimeVersion(runtimeVersion, releases) === undefined
  ) {
    violations.push(
      attributeViolation('runtime-version', 'no release satisfies this version or constraint'),
    );
  }
  if (given.workingDirectory && leavesWorkspaceRoot(given.workingDirectory)) {
    violations.push(
      attributeViolation('working-directory', 'working-directory must stay inside the repository'),
    );
  }
  if (
    (given.projectRemoteState ?? current?.projectRemoteState) === true &&
    (given.globalRemoteState ?? current?.globalRemoteState) === true
  ) {
    violations.push(
      attributeViolation(
        'project-remote-state',
        'Project remote state cannot be enabled when global remote state sharing is enabled',
      ),
    );
  }
  if (vcsRepo) violations.push(...checkVcsRepository(vcsRepo, current?.vcsRepo ?? null));
  violations.push(...checkTriggers(given, current));
  return violations;
};

/**
 * Reasons why health assessments that a request enables could never act.
 * @param mode own or inherited
 */
export const checkAssessable = (
  { runtimeVersion }: WorkspaceSettings,
  mode: ExecutionMode | undefined,
  releases: readonly string[],
): readonly Violation[] => {
  const refuse = (text: string) => [attributeViolation('assessments-enabled', text)];
  if (mode === 'local') return refuse('health assessments need an execution mode other than local');
  const release = resolveRuntimeVersion(runtimeVersion, releases);
  return release === undefined || isAtLeast(release, FIRST_ASSESSING_RELEASE)
    ? []
    : refuse(`health assessments need a runtime-version from ${FIRST_ASSESSING_RELEASE}`);
};

const nextVcsRepository = (
  given: VcsRepositoryInput | null | undefined,
  current: VcsRepository | null,
): VcsRepository | null => {
  if (given === undefined) return current;
  if (given === null) return null;
  return {
    // Empty and null select the default branch of the repository.
    branch: (given.branch === undefined ? current?.branch : given.branch) ?? '',
    identifier: given.identifier ?? current?.identifier ?? '',
    ingressSubmodules: given.ingressSubmodules ?? current?.ingressSubmodules ?? false,
    oauthTokenId: given.oauthTokenId ?? current?.oauthTokenId ?? '',
    tagsRegex: given.tagsRegex === undefined ? (current?.tagsRegex ?? null) : given.tagsRegex,
  };
};

/** The settings after a request that passed `checkSettings`. */
export const decideSettings = (
  given: SettingsInput,
  current: WorkspaceSettings,
): WorkspaceSettings => {
  const { vcsRepo, ...plain } = given;
  const next: WorkspaceSettings = {
    ...current,
    ...plain,
    vcsRepo: nextVcsRepository(vcsRepo, current.vcsRepo),
  };
  return {
    ...next,
    // Setting one kind of trigger clears the other kind.
    triggerPatterns: given.triggerPrefixes?.length ? [] : next.triggerPatterns,
    triggerPrefixes: given.triggerPatterns?.length ? [] : next.triggerPrefixes,
    ...(given.inheritsProjectAutoDestroy === true
      ? { autoDestroyAtMs: null, autoDestroyActivityDuration: null }
      : {}),
    // A duration replaces a set time; the time is then recomputed after every change of the workspace.
    ...(given.autoDestroyAtMs === undefined && given.autoDestroyActivityDuration
      ? { autoDestroyAtMs: null }
      : {}),
  };
};
