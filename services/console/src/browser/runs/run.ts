/** Runs, plans and applies of the workspace API, and the meaning of their states. */
import type { Tone } from '../components/pill.tsx';

export interface RunAttributes {
  readonly status: string;
  readonly message: string;
  readonly source: string;
  readonly 'created-at': string;
  readonly 'is-destroy': boolean;
  readonly 'plan-only': boolean;
  readonly 'auto-apply': boolean;
  readonly 'refresh-only': boolean;
  readonly 'has-changes': boolean;
  readonly 'terraform-version': string | null;
  readonly 'target-addrs': readonly string[] | null;
  readonly 'replace-addrs': readonly string[] | null;
  readonly 'force-cancel-available-at': string | null;
  readonly actions: {
    readonly 'is-cancelable': boolean;
    readonly 'is-confirmable': boolean;
    readonly 'is-discardable': boolean;
    readonly 'is-force-cancelable': boolean;
  };
  readonly permissions: {
    readonly 'can-apply': boolean;
    readonly 'can-cancel': boolean;
    readonly 'can-comment': boolean;
    readonly 'can-discard': boolean;
    readonly 'can-force-cancel': boolean;
  };
}

/** Attributes of a plan or an apply. */
export interface PhaseAttributes {
  readonly status: string;
  readonly 'log-read-url': string;
  readonly 'resource-additions': number | null;
  readonly 'resource-changes': number | null;
  readonly 'resource-destructions': number | null;
  readonly 'resource-imports': number | null;
}

const ENDED: readonly string[] = [
  'applied',
  'planned_and_finished',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
];

export const hasEnded = (status: string): boolean => ENDED.includes(status);

const TONES: Readonly<Record<string, Tone>> = {
  applied: 'good',
  planned_and_finished: 'good',
  planned: 'accent',
  planned_and_saved: 'accent',
  errored: 'bad',
  discarded: 'plain',
  canceled: 'plain',
  force_canceled: 'plain',
};

/** Statuses without an entry are those of waiting or working runs, shown as busy. */
export const runTone = (status: string): Tone => TONES[status] ?? 'busy';

/** "2 to add, 0 to change, 1 to destroy"; undefined until the plan has counted. */
export const shownCounts = (phase: PhaseAttributes, isApplied: boolean): string | undefined => {
  const { 'resource-additions': added, 'resource-changes': changed } = phase;
  if (added === null || changed === null) return undefined;
  const destroyed = phase['resource-destructions'] ?? 0;
  const imported = phase['resource-imports'] ?? 0;
  const parts = isApplied
    ? [`${added} added`, `${changed} changed`, `${destroyed} destroyed`]
    : [`${added} to add`, `${changed} to change`, `${destroyed} to destroy`];
  if (imported > 0) parts.unshift(isApplied ? `${imported} imported` : `${imported} to import`);
  return parts.join(', ');
};
