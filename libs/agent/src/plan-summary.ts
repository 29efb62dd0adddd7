/** Resource counts of a plan or apply. */
export interface Counts {
  readonly 'resource-additions': number;
  readonly 'resource-changes': number;
  readonly 'resource-destructions': number;
  readonly 'resource-imports': number;
}

interface Change {
  readonly actions?: readonly string[];
  readonly importing?: unknown;
}

/** The part of `terraform show -json` of a plan that is counted. */
export interface ShownPlan {
  readonly resource_changes?: readonly { readonly mode?: string; readonly change: Change }[];
  /** Resources that differ from the state. */
  readonly resource_drift?: readonly unknown[];
}

/** Counts managed resources; like the tool, counts a replacement as an addition and a destruction. */
export const countChanges = ({ resource_changes: changes = [] }: ShownPlan): Counts => {
  const managed = changes.filter(({ mode = 'managed' }) => mode === 'managed');
  const count = (action: string) =>
    managed.filter(({ change }) => change.actions?.includes(action)).length;
  return {
    'resource-additions': count('create'),
    'resource-changes': count('update'),
    'resource-destructions': count('delete'),
    'resource-imports': managed.filter(({ change }) => change.importing != null).length,
  };
};

export const hasDrift = ({ resource_drift: drift = [] }: ShownPlan): boolean => drift.length > 0;

const NOTHING: Counts = {
  'resource-additions': 0,
  'resource-changes': 0,
  'resource-destructions': 0,
  'resource-imports': 0,
};

const SENTENCE = /(\d{1,9}) (added|changed|destroyed|imported)\b/g;

/** Counts from the summary line of an apply; all zero when the output has none. */
export const readApplyCounts = (output: string): Counts => {
  for (const line of output.split('\n').toReversed()) {
    if (/^(Apply|Destroy) complete!/.test(line)) {
      const counted = new Map([...line.matchAll(SENTENCE)].map(([, n, what]) => [what, Number(n)]));
      return {
        'resource-additions': counted.get('added') ?? 0,
        'resource-changes': counted.get('changed') ?? 0,
        'resource-destructions': counted.get('destroyed') ?? 0,
        'resource-imports': counted.get('imported') ?? 0,
      };
    }
  }
  return NOTHING;
};
