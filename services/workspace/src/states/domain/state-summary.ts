/** What the service reads out of a state file: everything else of it is kept as bytes. */

export interface StateOutput {
  readonly name: string;
  readonly isSensitive: boolean;
  /** null where it is too large to be kept apart: clients then read it from the state itself. */
  readonly detail: { readonly type: unknown; readonly value: unknown } | null;
}

export interface StateResource {
  readonly name: string;
  readonly type: string;
  /** "root", or the address of the module. */
  readonly module: string;
  readonly provider: string;
  readonly isManaged: boolean;
  readonly count: number;
}

export interface StateSummary {
  readonly formatVersion: number | null;
  readonly runtimeVersion: string | null;
  readonly serial: number | null;
  readonly lineage: string | null;
  readonly outputs: readonly StateOutput[];
  readonly resources: readonly StateResource[];
}

/** An output over this is not kept apart from its state. */
export const MAX_OUTPUT_BYTES = 32 * 1024;
/** As many outputs are kept apart, and as many resources listed, as one record holds. */
export const MAX_OUTPUTS = 1000;
export const MAX_RESOURCES = 5000;

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

export const toStateResource = (given: unknown): StateResource => {
  const resource = isObject(given) ? given : {};
  const instances = resource['instances'];
  return {
    name: text(resource['name']),
    type: text(resource['type']),
    module: text(resource['module'], 'root'),
    provider: text(resource['provider']),
    isManaged: resource['mode'] === 'managed',
    count: Array.isArray(instances) ? instances.length : 0,
  };
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
