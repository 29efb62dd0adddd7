/**
 * Parameters in the paths of rules: `{{identity.entity.id}}` and similar. A path whose parameter has no value
 * for the caller yields no rule.
 */

/** Identity of a caller, in addition to its token. */
export interface Identity {
  readonly entity: {
    readonly id: string;
    readonly name: string;
    readonly metadata: Readonly<Record<string, string>>;
    /** Keys: accessor of the auth mount. */
    readonly aliases: Readonly<
      Record<string, { readonly name: string; readonly metadata: Readonly<Record<string, string>> }>
    >;
  };
  readonly groups: readonly { readonly id: string; readonly name: string }[];
}

const PARAMETER = /\{\{([^{}]+)\}\}/g;

const ownValue = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

const resolveEntity = ({ entity }: Identity, parts: readonly string[]): string | undefined => {
  const [field, first = '', second, third] = parts;
  if (parts.length === 1 && (field === 'id' || field === 'name')) return entity[field];
  if (parts.length === 2 && field === 'metadata') return ownValue(entity.metadata, first);
  if (field !== 'aliases') return undefined;
  const alias = ownValue(entity.aliases, first);
  if (parts.length === 3 && second === 'name') return alias?.name;
  return parts.length === 4 && second === 'metadata' && third !== undefined && alias !== undefined
    ? ownValue(alias.metadata, third)
    : undefined;
};

const resolveGroup = ({ groups }: Identity, parts: readonly string[]): string | undefined => {
  const [by, key, field] = parts;
  const group = groups.find(
    (one) => (by === 'ids' ? one.id : by === 'names' ? one.name : '') === key,
  );
  if (parts.length !== 3 || group === undefined) return undefined;
  return field === 'id' || field === 'name' ? group[field] : undefined;
};

/** The value of a parameter such as `identity.entity.id`; undefined if the caller has none. */
export const resolveParameter = (identity: Identity, name: string): string | undefined => {
  const [root, kind, ...rest] = name.split('.');
  if (root !== 'identity') return undefined;
  if (kind === 'entity') return resolveEntity(identity, rest);
  return kind === 'groups' ? resolveGroup(identity, rest) : undefined;
};

const isTemplated = (path: string): boolean => path.includes('{{');

/** Names of the parameters in a path. */
export const parametersIn = (path: string): readonly string[] =>
  isTemplated(path) ? [...path.matchAll(PARAMETER)].map(([, name = '']) => name.trim()) : [];

/** The path with every parameter filled in; undefined when one has no value. */
export const resolvePathTemplate = (
  path: string,
  identity: Identity | undefined,
): string | undefined => {
  if (!isTemplated(path)) return path;
  let isComplete = true;
  const resolved = path.replaceAll(PARAMETER, (_whole, name: string) => {
    const value = identity === undefined ? undefined : resolveParameter(identity, name.trim());
    // A value with a wildcard or a slash would extend the rule to paths of other callers.
    if (value === undefined || value === '' || /[*+/{}]/.test(value)) isComplete = false;
    return value ?? '';
  });
  return isComplete && !isTemplated(resolved) ? resolved : undefined;
};
