/** Planned changes, read from the redacted JSON of a plan. */
import type { ChangeJson, PlanJson, ResourceJson } from './plan-json.ts';
import { type Difference, type ValueChange, valueChanges } from './value-changes.ts';

/** In the order in which they are shown: what is lost first. */
export const CHANGE_KINDS = [
  'delete',
  'replace',
  'forget',
  'update',
  'create',
  'import',
  'move',
  'read',
  'defer',
] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];

export interface ResourceChange {
  readonly address: string;
  /** "" for the root module. */
  readonly module: string;
  readonly kind: ChangeKind;
  /** Why, if the tool says so: "its configuration is gone". */
  readonly reason: string | undefined;
  /** Address before the resource was moved. */
  readonly formerAddress: string | undefined;
  /** Id under which it is imported. */
  readonly importedAs: string | undefined;
  readonly values: readonly ValueChange[];
}

export interface OutputChange {
  readonly name: string;
  readonly kind: ChangeKind;
  readonly values: readonly ValueChange[];
}

/** The reasons of the tool's JSON format; others are shown as they are. */
const REASONS: Readonly<Record<string, string>> = {
  replace_because_tainted: 'it is tainted',
  replace_because_cannot_update: 'a change to it cannot be made in place',
  replace_by_request: 'the run asked for it',
  replace_by_triggers: 'something that triggers its replacement has changed',
  delete_because_no_resource_config: 'its configuration is gone',
  delete_because_no_module: 'its module is gone',
  delete_because_wrong_repetition: 'its repetition has changed',
  delete_because_count_index: 'its index is beyond the count',
  delete_because_each_key: 'its key is not in for_each',
  delete_because_no_move_target: 'the target of its move does not exist',
  read_because_config_unknown: 'its configuration is known after apply',
  read_because_dependency_pending: 'it depends on changes of this plan',
  read_because_check_nested: 'a check reads it',
};

const reasonOf = (reason: string | undefined): string | undefined =>
  reason === undefined ? undefined : (REASONS[reason] ?? reason.replaceAll('_', ' '));

const kindOf = ({
  change,
  previous_address: former,
  address,
}: ResourceJson): ChangeKind | undefined => {
  const { actions } = change;
  if (actions.includes('create') && (actions.includes('delete') || actions.includes('forget')))
    return 'replace';
  const [only] = actions;
  if (only === 'no-op') {
    if (change.importing !== undefined) return 'import';
    return former !== undefined && former !== address ? 'move' : undefined;
  }
  return CHANGE_KINDS.find((kind) => kind === only);
};

const differenceOf = (change: ChangeJson): Difference => ({
  before: change.before,
  after: change.after,
  unknown: change.after_unknown,
  secretBefore: change.before_sensitive,
  secretAfter: change.after_sensitive,
});

const toChange = (resource: ResourceJson, kind: ChangeKind, reason?: string): ResourceChange => {
  const { address, change, previous_address: former } = resource;
  return {
    address,
    module: resource.module_address ?? '',
    kind,
    reason: reasonOf(reason ?? resource.action_reason),
    formerAddress: former === address ? undefined : former,
    importedAs: typeof change.importing?.id === 'string' ? change.importing.id : undefined,
    values: kind === 'forget' ? [] : valueChanges(differenceOf(change)),
  };
};

const byKind = (one: { readonly kind: ChangeKind }, other: { readonly kind: ChangeKind }): number =>
  CHANGE_KINDS.indexOf(one.kind) - CHANGE_KINDS.indexOf(other.kind);

/** Changes of resources, with what is lost first; unchanged resources are left out. */
export const resourceChanges = (plan: PlanJson): readonly ResourceChange[] =>
  [
    ...(plan.resource_changes ?? []).flatMap((resource) => {
      const kind = kindOf(resource);
      return kind === undefined ? [] : [toChange(resource, kind)];
    }),
    ...(plan.deferred_changes ?? []).flatMap(({ reason, resource_change: resource }) =>
      resource === undefined ? [] : [toChange(resource, 'defer', reason)],
    ),
  ].toSorted(byKind);

/** Changes that were made outside of the tool since its last run. */
export const driftChanges = (plan: PlanJson): readonly ResourceChange[] =>
  (plan.resource_drift ?? [])
    .flatMap((resource) => {
      const kind = kindOf(resource);
      return kind === undefined || kind === 'move' ? [] : [toChange(resource, kind)];
    })
    .toSorted(byKind);

/** Changes of outputs, with those that end first. */
export const outputChanges = (plan: PlanJson): readonly OutputChange[] =>
  Object.entries(plan.output_changes ?? {})
    .flatMap(([name, change]): OutputChange[] => {
      const kind = kindOf({ address: name, change });
      if (kind === undefined) return [];
      return [{ name, kind, values: valueChanges(differenceOf(change), 'value') }];
    })
    .toSorted(byKind);
