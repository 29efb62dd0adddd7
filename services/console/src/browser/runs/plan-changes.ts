/** Planned changes, read from the redacted JSON of a plan. */

export type ChangeKind = 'create' | 'update' | 'delete' | 'replace' | 'read';

export interface AttributeChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface ResourceChange {
  readonly address: string;
  readonly kind: ChangeKind;
  readonly attributes: readonly AttributeChange[];
}

type Values = Readonly<Record<string, unknown>>;

interface Change {
  readonly actions: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
  readonly after_unknown?: unknown;
  readonly before_sensitive?: unknown;
  readonly after_sensitive?: unknown;
}

/** The members of the plan that the console reads. */
export interface PlanJson {
  readonly resource_changes?: readonly { readonly address: string; readonly change: Change }[];
  readonly output_changes?: Readonly<Record<string, Change>>;
}

const kindOf = (actions: readonly string[]): ChangeKind | undefined => {
  if (actions.includes('create') && actions.includes('delete')) return 'replace';
  const [only] = actions;
  return only === 'create' || only === 'update' || only === 'delete' || only === 'read'
    ? only
    : undefined;
};

const asValues = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};

const shown = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : JSON.stringify(value);

const attributeChanges = (change: Change): readonly AttributeChange[] => {
  const [before, after] = [asValues(change.before), asValues(change.after)];
  const unknown = asValues(change.after_unknown);
  const secretBefore = asValues(change.before_sensitive);
  const secretAfter = asValues(change.after_sensitive);
  const names = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(unknown)]);
  return [...names].toSorted().flatMap((name) => {
    const old = secretBefore[name] === true ? '(sensitive)' : shown(before[name]);
    const known = secretAfter[name] === true ? '(sensitive)' : shown(after[name]);
    const next = unknown[name] === true ? '(known after apply)' : known;
    const isSecret = secretBefore[name] === true || secretAfter[name] === true;
    return old === next && !isSecret ? [] : [{ name, before: old, after: next }];
  });
};

/** Changes of resources, in the order of the plan; unchanged resources are left out. */
export const resourceChanges = (plan: PlanJson): readonly ResourceChange[] =>
  (plan.resource_changes ?? []).flatMap(({ address, change }) => {
    const kind = kindOf(change.actions);
    return kind === undefined ? [] : [{ address, kind, attributes: attributeChanges(change) }];
  });

/** Changes of outputs, as attributes of a single pseudo-resource. */
export const outputChanges = (plan: PlanJson): readonly AttributeChange[] =>
  Object.entries(plan.output_changes ?? {}).flatMap(([name, change]) => {
    if (kindOf(change.actions) === undefined) return [];
    const after = change.after_unknown === true ? '(known after apply)' : shown(change.after);
    return [
      {
        name,
        before: change.before_sensitive === true ? '(sensitive)' : shown(change.before),
        after: change.after_sensitive === true ? '(sensitive)' : after,
      },
    ];
  });
