/** Runs, plans and applies of the workspace API, and the meaning of their states. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { Tone } from '../components/pill.tsx';

export type RunAttributes = ResourceAttributes['runs'];

export type PhaseAttributes = ResourceAttributes['plans'] | ResourceAttributes['applies'];

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
export const formatCounts = (phase: PhaseAttributes, isApplied: boolean): string | undefined => {
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
