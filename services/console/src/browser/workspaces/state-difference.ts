/** The difference between two state files, by resource instance and by output. */

/** The members of a state file that the console reads. */
export interface StateFile {
  readonly outputs?: Readonly<
    Record<string, { readonly value?: unknown; readonly sensitive?: boolean }>
  >;
  readonly resources?: readonly {
    readonly module?: string;
    readonly mode: string;
    readonly type: string;
    readonly name: string;
    readonly instances?: readonly {
      readonly index_key?: string | number;
      readonly attributes?: Readonly<Record<string, unknown>>;
      readonly sensitive_attributes?: readonly unknown[];
    }[];
  }[];
}

export interface StateChange {
  readonly address: string;
  readonly kind: 'create' | 'update' | 'delete';
  /**
   * Names of the attributes that differ; empty for an instance or output in only one of the files.
   */
  readonly attributes: readonly string[];
}

const instancesOf = (state: StateFile): ReadonlyMap<string, Readonly<Record<string, unknown>>> => {
  const found = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { module, mode, type, name, instances = [] } of state.resources ?? [])
    for (const { index_key: key, attributes = {} } of instances) {
      const place = `${mode === 'data' ? 'data.' : ''}${type}.${name}`;
      const index = key === undefined ? '' : `[${JSON.stringify(key)}]`;
      found.set(`${module === undefined ? '' : `${module}.`}${place}${index}`, attributes);
    }
  for (const [name, { value }] of Object.entries(state.outputs ?? {}))
    found.set(`output.${name}`, { value });
  return found;
};

const differing = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .toSorted();

/** The instances and outputs in which two states differ. Values, which may be secret, are left out. */
export const stateDifference = (earlier: StateFile, later: StateFile): readonly StateChange[] => {
  const [before, after] = [instancesOf(earlier), instancesOf(later)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .toSorted()
    .flatMap((address): readonly StateChange[] => {
      const [old, present] = [before.get(address), after.get(address)];
      if (old === undefined) return [{ address, kind: 'create', attributes: [] }];
      if (present === undefined) return [{ address, kind: 'delete', attributes: [] }];
      const attributes = differing(old, present);
      return attributes.length === 0 ? [] : [{ address, kind: 'update', attributes }];
    });
};
