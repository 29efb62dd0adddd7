/**
 * A plan for readers who may not see sensitive values: the parts that clients need to print it, with its
 * sensitive values replaced by others of the same form. Values that differ stay different, so that an
 * update is still seen as one.
 */
import {
  type JsonFields as Fields,
  isFields,
  type Json,
  listOf,
  mapFields,
} from './json-fields.ts';
import { configurationReferences } from './plan-references.ts';

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const TEXTS = ['REDACTED', 'REDACTED (changed)'] as const;

type Variant = 0 | 1;

/** Replaces every plain value within. */
const hidden = (value: Json, variant: Variant): Json => {
  if (isList(value)) return value.map((item) => hidden(item, variant));
  if (isFields(value)) return mapFields(value, (item) => hidden(item, variant));
  if (typeof value === 'string') return TEXTS[variant];
  if (typeof value === 'number') return variant;
  return typeof value === 'boolean' ? variant === 1 : null;
};

const within = (value: Json | undefined, at: string | number): Json | undefined => {
  if (isList(value)) return value[Number(at)];
  return isFields(value) ? value[at] : undefined;
};

/**
 * Hides what `mask` marks: true for a whole value, else the same form as the value, below it.
 * @param before the value that this one replaces; undefined when it is the former value itself
 */
const masked = (
  value: Json,
  mask: Json | undefined,
  before?: { value: Json | undefined },
): Json => {
  if (mask === true) return hidden(value, before && !isSame(before.value, value) ? 1 : 0);
  const below = (at: string | number) => before && { value: within(before.value, at) };
  if (isList(value) && isList(mask)) {
    return value.map((item, index) => masked(item, mask[index], below(index)));
  }
  if (isFields(value) && isFields(mask)) {
    return mapFields(value, (item, name) => masked(item, mask[name], below(name)));
  }
  return value;
};

const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

const redactChange = (change: Fields): Fields => {
  const { before = null, after = null } = change;
  return {
    ...change,
    before: masked(before, change['before_sensitive']),
    after: masked(after, change['after_sensitive'], { value: before }),
    // Configuration that the tool made from real values.
    ...('generated_config' in change ? { generated_config: '' } : {}),
  };
};

const redactResource = (resource: Json): Json =>
  isFields(resource) && isFields(resource['change'])
    ? { ...resource, change: redactChange(resource['change']) }
    : resource;

/** Schemas of the resources in the plan only, as those of a whole provider may be large. */
const schemasOf = (schemas: Json | undefined, resources: readonly Json[]): Fields => {
  const used = new Map<string, Set<string>>();
  for (const resource of resources) {
    if (!isFields(resource)) continue;
    const { provider_name: provider, type } = resource;
    if (typeof provider !== 'string' || typeof type !== 'string') continue;
    used.set(provider, (used.get(provider) ?? new Set()).add(type));
  }
  if (!isFields(schemas)) return {};
  const keep = (group: Json | undefined, types: ReadonlySet<string>): Fields =>
    isFields(group)
      ? Object.fromEntries(Object.entries(group).filter(([type]) => types.has(type)))
      : {};
  return Object.fromEntries(
    [...used].flatMap(([provider, types]) => {
      const schema = schemas[provider];
      if (!isFields(schema)) return [];
      const kept = {
        ...schema,
        resource_schemas: keep(schema['resource_schemas'], types),
        data_source_schemas: keep(schema['data_source_schemas'], types),
      };
      return [[provider, kept]];
    }),
  );
};

/**
 * @param plan of `terraform show -json`
 * @param schemas of `terraform providers schema -json`
 * @returns the document that clients print: changes, outputs and checks, with the schemas they need, and what refers to
 *   what in the configuration
 */
export const redactPlan = (plan: Fields, schemas: Fields): Fields => {
  const changes = listOf(plan['resource_changes']);
  const drift = listOf(plan['resource_drift']);
  const deferred = listOf(plan['deferred_changes']);
  const deferredResources = deferred.flatMap((item) =>
    isFields(item) && item['resource_change'] !== undefined ? [item['resource_change']] : [],
  );
  const outputs = plan['output_changes'];
  return {
    plan_format_version: plan['format_version'] ?? '',
    provider_format_version: schemas['format_version'] ?? '',
    resource_changes: changes.map(redactResource),
    resource_drift: drift.map(redactResource),
    output_changes: isFields(outputs)
      ? mapFields(outputs, (change) => (isFields(change) ? redactChange(change) : change))
      : {},
    // The tool leaves sensitive values out of the messages of checks.
    checks: listOf(plan['checks']),
    configuration: configurationReferences(plan['configuration']),
    relevant_attributes: plan['relevant_attributes'] ?? [],
    deferred_changes: deferred.map((item) =>
      isFields(item)
        ? { ...item, resource_change: redactResource(item['resource_change'] ?? null) }
        : item,
    ),
    provider_schemas: schemasOf(schemas['provider_schemas'], [
      ...changes,
      ...drift,
      ...deferredResources,
    ]),
  };
};
