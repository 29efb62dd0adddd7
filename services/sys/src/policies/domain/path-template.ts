/**
 * Parameters in the paths of rules: `{{identity.entity.id}}` and similar. A path whose parameter has no value
 * for the caller yields no rule.
 */

type Texts = Readonly<Record<string, string>>;

/** Identity of a caller, in addition to its token. */
export interface Identity {
  readonly entity: {
    readonly id: string;
    readonly name: string;
    readonly metadata: Texts;
    /** Keys: accessor of the auth mount. */
    readonly aliases: Readonly<
      Record<
        string,
        {
          readonly id: string;
          readonly name: string;
          readonly metadata: Texts;
          readonly customMetadata: Texts;
        }
      >
    >;
  };
  readonly groups: readonly {
    readonly id: string;
    readonly name: string;
    readonly metadata: Texts;
  }[];
}

/** The value of a parameter. Only a text can be part of a path; tokens of OpenID Connect have the others, too. */
export type ParameterValue = string | Texts | readonly string[];

const PARAMETER = /\{\{([^{}]+)\}\}/g;

const ownValue = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** All texts, or the one that the rest of the parameter names: a key may have dots. */
const findText = (texts: Texts, rest: readonly string[]): ParameterValue | undefined =>
  rest.length === 0 ? texts : ownValue(texts, rest.join('.'));

const resolveAlias = (
  aliases: Identity['entity']['aliases'],
  [accessor = '', field, ...rest]: readonly string[],
): ParameterValue | undefined => {
  const alias = ownValue(aliases, accessor);
  if (alias === undefined) return undefined;
  if (field === 'id' || field === 'name') return rest.length === 0 ? alias[field] : undefined;
  if (field === 'metadata') return findText(alias.metadata, rest);
  return field === 'custom_metadata' ? findText(alias.customMetadata, rest) : undefined;
};

const resolveEntity = (
  { entity, groups }: Identity,
  [field, ...rest]: readonly string[],
): ParameterValue | undefined => {
  if (field === 'id' || field === 'name') return rest.length === 0 ? entity[field] : undefined;
  if (field === 'metadata') return findText(entity.metadata, rest);
  if (field === 'aliases') return resolveAlias(entity.aliases, rest);
  const [list] = rest;
  if (field !== 'groups' || rest.length !== 1) return undefined;
  if (list === 'ids') return groups.map(({ id }) => id);
  return list === 'names' ? groups.map(({ name }) => name) : undefined;
};

const resolveGroup = (
  { groups }: Identity,
  [by, ...rest]: readonly string[],
): ParameterValue | undefined => {
  if (by !== 'ids' && by !== 'names') return undefined;
  const text = rest.join('.');
  for (const { id, name, metadata } of groups) {
    // A name may have dots, so that the parameter does not say where it ends.
    const prefix = `${by === 'ids' ? id : name}.`;
    if (!text.startsWith(prefix)) continue;
    const [field, ...further] = text.slice(prefix.length).split('.');
    if (field === 'metadata' && further.length > 0) return findText(metadata, further);
    if (further.length > 0) continue;
    if (field === 'id') return id;
    if (field === 'name') return name;
  }
  return undefined;
};

/** The value of a parameter such as `identity.entity.groups.names`; undefined if the caller has none. */
export const resolveValue = (identity: Identity, name: string): ParameterValue | undefined => {
  const [root, kind, ...rest] = name.split('.');
  if (root !== 'identity') return undefined;
  if (kind === 'entity') return resolveEntity(identity, rest);
  return kind === 'groups' ? resolveGroup(identity, rest) : undefined;
};

/** The value of a parameter such as `identity.entity.id`, if it is a text. */
export const resolveParameter = (identity: Identity, name: string): string | undefined => {
  const value = resolveValue(identity, name);
  return typeof value === 'string' ? value : undefined;
};

/** The text with what `toText` makes of each parameter. */
export const replaceParameters = (text: string, toText: (name: string) => string): string =>
  text.replaceAll(PARAMETER, (_whole, name: string) => toText(name.trim()));

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
  const resolved = replaceParameters(path, (name) => {
    const value = identity === undefined ? undefined : resolveParameter(identity, name);
    // A value with a wildcard or a slash would extend the rule to paths of other callers.
    if (value === undefined || value === '' || /[*+/{}]/.test(value)) isComplete = false;
    return value ?? '';
  });
  return isComplete && !isTemplated(resolved) ? resolved : undefined;
};
