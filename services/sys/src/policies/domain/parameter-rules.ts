/**
 * Rules for the parameters of a request: which are required, which are allowed or denied, and with which
 * values. Only top-level keys count; they are compared in lower case. An empty list of values means any
 * value, the key `*` any parameter.
 */
/** Lower-case parameter name to its listed values. */
export type ParameterLists = ReadonlyMap<string, readonly unknown[]>;

export interface ParameterRules {
  readonly required: ReadonlySet<string>;
  /** Undefined if the rule has no such list, so every parameter is allowed. */
  readonly allowed: ParameterLists | undefined;
  readonly denied: ParameterLists | undefined;
}

export const NO_PARAMETER_RULES: ParameterRules = {
  required: new Set(),
  allowed: undefined,
  denied: undefined,
};

export const hasParameterRules = (rules: ParameterRules): boolean =>
  rules.required.size > 0 || rules.allowed !== undefined || rules.denied !== undefined;

/** A `*` at either end of a listed string matches any text. */
const matchesText = (listed: string, given: string): boolean => {
  const openStart = listed.startsWith('*');
  const openEnd = listed.length > 1 && listed.endsWith('*');
  const core = listed.slice(openStart ? 1 : 0, openEnd ? -1 : undefined);
  if (openStart && openEnd) return given.includes(core);
  if (openStart) return given.endsWith(core);
  return openEnd ? given.startsWith(core) : given === core;
};

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Form bodies and query strings carry every value as text, so scalars are compared as text. */
const matchesOne = (listed: unknown, given: unknown): boolean =>
  typeof listed === 'string' && typeof given !== 'object'
    ? matchesText(listed, toText(given))
    : toText(listed) === toText(given);

/** The elements of a list; a string also counts as the comma-separated list it may represent. */
const elements = (given: unknown): readonly unknown[] => {
  if (Array.isArray(given)) return given;
  return typeof given === 'string' && given.includes(',')
    ? given.split(',').map((part) => part.trim())
    : [given];
};

const isListed = (listed: readonly unknown[], given: unknown): boolean =>
  listed.length === 0 || listed.some((one) => matchesOne(one, given));

/** Allowed when the whole value or every element of it is listed. */
const isAllowedValue = (listed: readonly unknown[], given: unknown): boolean =>
  isListed(listed, given) ||
  (elements(given).length > 0 && elements(given).every((one) => isListed(listed, one)));

/** Denied when the whole value or any element of it is listed. */
const isDeniedValue = (listed: readonly unknown[], given: unknown): boolean =>
  isListed(listed, given) || elements(given).some((one) => isListed(listed, one));

/** True when the rules allow a request with these parameters. */
export const permitsParameters = (
  rules: ParameterRules,
  parameters: Readonly<Record<string, unknown>>,
): boolean => {
  const given = new Map(
    Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]),
  );
  for (const name of rules.required) if (!given.has(name)) return false;
  if (rules.denied !== undefined && given.size > 0) {
    if (rules.denied.has('*')) return false;
    for (const [name, value] of given) {
      const listed = rules.denied.get(name);
      if (listed !== undefined && isDeniedValue(listed, value)) return false;
    }
  }
  if (rules.allowed === undefined || rules.allowed.size === 0) return true;
  for (const [name, value] of given) {
    const listed = rules.allowed.get(name);
    if (listed === undefined ? !rules.allowed.has('*') : !isAllowedValue(listed, value))
      return false;
  }
  return true;
};

const uniteLists = (
  a: ParameterLists | undefined,
  b: ParameterLists | undefined,
): ParameterLists | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const united = new Map(a);
  for (const [name, values] of b) {
    const others = united.get(name);
    const anyValue = values.length === 0 || others?.length === 0;
    const seen = new Map([...(others ?? []), ...values].map((value) => [toText(value), value]));
    united.set(name, anyValue ? [] : [...seen.values()]);
  }
  return united;
};

/** Unites the rules of several policies for one path. The result does not depend on their order. */
export const uniteParameterRules = (a: ParameterRules, b: ParameterRules): ParameterRules => ({
  required: a.required.union(b.required),
  allowed: uniteLists(a.allowed, b.allowed),
  denied: uniteLists(a.denied, b.denied),
});
