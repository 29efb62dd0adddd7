/** The difference between two state files, by resource instance and by output. */

import { type ValueChange, valueChanges } from '../runs/plan/value-changes.ts';

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
  /** Values that the state marks as sensitive are hidden. */
  readonly values: readonly ValueChange[];
}

/** Values of an instance or output, and which of them are sensitive. */
interface Kept {
  readonly values: unknown;
  readonly secret: unknown;
}

interface PathStep {
  readonly value?: unknown;
}

/** A mark of the values at the paths, in the form of the values: `{ user: { password: true } }`. */
const markOf = (paths: readonly unknown[]): unknown => {
  let mark: unknown = {};
  const within = (known: unknown, steps: readonly PathStep[]): unknown => {
    const [first, ...rest] = steps;
    if (known === true || first === undefined) return true;
    const { value } = first;
    // The index of a list or map is a value with its type.
    const at = typeof value === 'object' && value !== null ? (value as PathStep).value : value;
    const fields = (known ?? {}) as Readonly<Record<string, unknown>>;
    return { ...fields, [String(at)]: within(fields[String(at)], rest) };
  };
  for (const path of paths)
    mark = within(mark, Array.isArray(path) ? (path as readonly PathStep[]) : [path as PathStep]);
  return mark;
};

/** A mark of everything that one of the two marks. */
const mergedMark = (one: unknown, other: unknown): unknown => {
  if (one === true || other === true) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return one ?? other;
  const [a, b] = [one, other] as Readonly<Record<string, unknown>>[];
  const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
  return Object.fromEntries([...names].map((name) => [name, mergedMark(a?.[name], b?.[name])]));
};

const keptIn = (state: StateFile): ReadonlyMap<string, Kept> => {
  const found = new Map<string, Kept>();
  for (const { module, mode, type, name, instances = [] } of state.resources ?? [])
    for (const { index_key: key, attributes = {}, sensitive_attributes: paths = [] } of instances) {
      const place = `${mode === 'data' ? 'data.' : ''}${type}.${name}`;
      const index = key === undefined ? '' : `[${JSON.stringify(key)}]`;
      const address = `${module === undefined ? '' : `${module}.`}${place}${index}`;
      found.set(address, { values: attributes, secret: markOf(paths) });
    }
  for (const [name, { value, sensitive }] of Object.entries(state.outputs ?? {}))
    found.set(`output.${name}`, { values: { value }, secret: { value: sensitive === true } });
  return found;
};

/** The instances and outputs in which two states differ, by their addresses. */
export const stateDifference = (earlier: StateFile, later: StateFile): readonly StateChange[] => {
  const [before, after] = [keptIn(earlier), keptIn(later)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .toSorted()
    .flatMap((address): readonly StateChange[] => {
      const [old, present] = [before.get(address), after.get(address)];
      // A value that is secret in one state may not be shown of the other.
      const secret = mergedMark(old?.secret, present?.secret);
      const values = valueChanges({
        before: old?.values,
        after: present?.values,
        secretBefore: secret,
        secretAfter: secret,
      });
      if (old === undefined) return [{ address, kind: 'create', values }];
      if (present === undefined) return [{ address, kind: 'delete', values }];
      return values.length === 0 ? [] : [{ address, kind: 'update', values }];
    });
};
