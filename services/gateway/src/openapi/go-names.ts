/**
 * Names for generated clients of Go (`x-go-name`) where the name in the API would give one that does not compile:
 * a property whose identifier another one has already, and a parameter that hides a package.
 */

type JsonObject = Readonly<Record<string, unknown>>;

/** Packages that a generated client uses in functions with parameters. */
const PACKAGES = ['bytes', 'context', 'fmt', 'http', 'io', 'json', 'runtime', 'strings', 'url'];

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** "DeleteOlderThanNDays" for both "delete-older-than-n-days" and "deleteOlderThanNDays". */
const identifierOf = (name: string): string =>
  capitalized(name.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next = '') => next.toUpperCase()));

const withDistinctProperties = (schema: JsonObject): JsonObject => {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const taken = new Set<string>();
  const named = Object.entries(properties).map(([name, property]) => {
    const identifier = identifierOf(name);
    const isTaken = taken.has(identifier);
    taken.add(identifier);
    return [
      name,
      isTaken && isObject(property) ? { ...property, 'x-go-name': `${identifier}Alias` } : property,
    ];
  });
  return { ...schema, properties: Object.fromEntries(named) as JsonObject };
};

const withoutPackageName = (parameter: JsonObject): JsonObject =>
  'in' in parameter && PACKAGES.includes(String(parameter['name']))
    ? { ...parameter, 'x-go-name': `${capitalized(String(parameter['name']))}Parameter` }
    : parameter;

/** The same part of a document, with names where they are needed. */
export const withGoNames = (part: JsonObject): JsonObject =>
  withoutPackageName(withDistinctProperties(part));
