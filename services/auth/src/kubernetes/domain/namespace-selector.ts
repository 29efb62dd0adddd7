/** Label selectors, by which a role names namespaces, as the API of Kubernetes defines them. */

type Labels = Readonly<Record<string, unknown>>;

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

interface Requirement {
  readonly key: string;
  readonly operator: (typeof OPERATORS)[number];
  readonly values: readonly string[];
}

/** A namespace must meet all requirements. */
export type NamespaceSelector = readonly Requirement[];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member with a mistake in its name must not select every namespace. */
const hasOnly = (value: object, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

const isText = (value: unknown): value is string => typeof value === 'string';

const toRequirement = (value: unknown): Requirement | undefined => {
  if (!isObject(value) || !hasOnly(value, ['key', 'operator', 'values'])) return undefined;
  const { key, values = [] } = value;
  const operator = OPERATORS.find((one) => one === value['operator']);
  if (!isText(key) || operator === undefined || !Array.isArray(values)) return undefined;
  const needsValues = operator === 'In' || operator === 'NotIn';
  return values.every(isText) && values.length > 0 === needsValues
    ? { key, operator, values }
    : undefined;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** @returns undefined for a text that is not a label selector in JSON */
export const parseSelector = (text: string): NamespaceSelector | undefined => {
  const given = parse(text);
  if (!isObject(given) || !hasOnly(given, ['matchLabels', 'matchExpressions'])) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = given;
  if (!isObject(matchLabels) || !Array.isArray(matchExpressions)) return undefined;
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) =>
      toRequirement({ key, operator: 'In', values: [value] }),
    ),
    ...matchExpressions.map(toRequirement),
  ];
  const sound = requirements.filter((requirement) => requirement !== undefined);
  return sound.length === requirements.length ? sound : undefined;
};

const isMet = ({ key, operator, values }: Requirement, labels: Labels): boolean => {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const isOneOf = values.some((one) => one === value);
  if (operator === 'In') return isOneOf;
  if (operator === 'NotIn') return !isOneOf;
  return (value !== undefined) === (operator === 'Exists');
};

/** Whether a namespace with these labels is selected. @param labels undefined for a namespace without any */
export const selects = (selector: NamespaceSelector, labels: unknown): boolean =>
  selector.every((requirement) => isMet(requirement, isObject(labels) ? labels : {}));
