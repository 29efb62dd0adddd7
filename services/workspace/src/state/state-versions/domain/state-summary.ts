/** The parts of a state file that the service reads. The rest is stored as bytes only. */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { digestInstance, type InstanceDigest, instanceDigestShape } from './instance-changes.ts';

export const stateOutputShape = Type.Object({
  name: Type.String(),
  isSensitive: Type.Boolean(),
  /** null when it is too large for the summary: clients then read it from the state itself. */
  detail: nullable(Type.Object({ type: Type.Unknown(), value: Type.Unknown() })),
});
export type StateOutput = Shaped<typeof stateOutputShape>;

export const instanceKeyShape = Type.Union([Type.String(), Type.Number()]);
export type InstanceKey = Shaped<typeof instanceKeyShape>;

export const stateResourceShape = Type.Object({
  name: Type.String(),
  type: Type.String(),
  /** "root", or the address of the module. */
  module: Type.String(),
  provider: Type.String(),
  isManaged: Type.Boolean(),
  count: Type.Number(),
  /** Key of an instance that `count` or `for_each` creates; absent where there is none. */
  instanceKeys: Type.Optional(Type.Array(instanceKeyShape)),
});
export type StateResource = Shaped<typeof stateResourceShape>;

export const stateSummaryShape = Type.Object({
  formatVersion: nullable(Type.Number()),
  runtimeVersion: nullable(Type.String()),
  serial: nullable(Type.Number()),
  lineage: nullable(Type.String()),
  outputs: Type.Array(stateOutputShape),
  resources: Type.Array(stateResourceShape),
  /** Keys of managed resources only, at most `MAX_INSTANCE_KEYS`. */
  instances: Type.Array(instanceDigestShape),
});
export type StateSummary = Shaped<typeof stateSummaryShape>;

/** Largest output in the summary. */
export const MAX_OUTPUT_BYTES = 32 * 1024;
/** Number of outputs and resources in the summary, limited by the size of a record. */
export const MAX_OUTPUTS = 1000;
export const MAX_RESOURCES = 5000;
/** Total over all resources. */
export const MAX_INSTANCE_KEYS = 5000;

type JsonObject = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown, fallback = ''): string =>
  typeof value === 'string' ? value : fallback;

export const toStateOutput = (name: string, given: unknown): StateOutput => {
  const output = isObject(given) ? given : {};
  const detail = { type: output['type'] ?? null, value: output['value'] ?? null };
  return {
    name,
    isSensitive: output['sensitive'] === true,
    detail: Buffer.byteLength(JSON.stringify(detail)) > MAX_OUTPUT_BYTES ? null : detail,
  };
};

const isInstanceKey = (value: unknown): value is InstanceKey =>
  typeof value === 'string' || typeof value === 'number';

export const toStateResource = (given: unknown): StateResource => {
  const resource = isObject(given) ? given : {};
  const instances: readonly unknown[] = Array.isArray(resource['instances'])
    ? resource['instances']
    : [];
  const instanceKeys = instances
    .map((instance) => (isObject(instance) ? instance['index_key'] : undefined))
    .filter(isInstanceKey);
  return {
    name: text(resource['name']),
    type: text(resource['type']),
    module: text(resource['module'], 'root'),
    provider: text(resource['provider']),
    isManaged: resource['mode'] === 'managed',
    count: instances.length,
    // A deposed object has the key of its instance.
    ...(instanceKeys.length > 0 && { instanceKeys: [...new Set(instanceKeys)] }),
  };
};

/** As the provisioning tool writes it: `module.m.type.name["key"]`. */
export const toInstanceAddress = (
  { module, type, name }: Pick<StateResource, 'module' | 'type' | 'name'>,
  key: InstanceKey | null,
): string => {
  const resource = `${module === 'root' ? '' : `${module}.`}${type}.${name}`;
  return key === null ? resource : `${resource}[${JSON.stringify(key)}]`;
};

/** Digests of a managed resource's instances. A deposed object is not an instance of its own. */
export const toInstanceDigests = (
  resource: StateResource,
  given: unknown,
): readonly InstanceDigest[] => {
  const instances: unknown = isObject(given) ? given['instances'] : undefined;
  if (!resource.isManaged || !Array.isArray(instances)) return [];
  return instances
    .filter((instance) => isObject(instance) && instance['deposed'] === undefined)
    .map((instance: JsonObject) => {
      const key = instance['index_key'];
      const address = toInstanceAddress(resource, isInstanceKey(key) ? key : null);
      return digestInstance(address, instance);
    });
};

/** Data sources are read, not managed. */
export const countManaged = (resources: readonly StateResource[]): number =>
  resources.reduce((sum, { isManaged, count }) => sum + (isManaged ? count : 0), 0);

/** The coarse type of an output as older clients show it. */
export const toOutputType = ({ detail }: StateOutput): string => {
  const type = detail?.type;
  if (typeof type === 'string') return type;
  const kind: unknown = Array.isArray(type) ? type[0] : undefined;
  if (kind === 'list' || kind === 'set' || kind === 'tuple') return 'array';
  return kind === 'map' || kind === 'object' ? 'map' : 'string';
};
