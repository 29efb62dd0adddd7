/** Fields of request documents that deployed clients send for features that are not offered. */
import type { Violation } from './error-document.ts';

/**
 * Fields of a resource and the reasons why they are not supported. A field is written as its path below `data`:
 * `{ 'attributes/hyok-enabled': 'there are no keys of your own' }`. With `=` and a text, only that value is not
 * supported: `{ 'attributes/mode=fast': 'there is one speed' }`.
 */
export type UnsupportedFields = Readonly<Record<string, string>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value asks for something. Clients send the others with every request. */
const asksForSomething = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : value !== undefined && value !== null && value !== false && value !== '' && value !== 'none';

/** The value at a path, and its JSON pointer with the names that the document uses. */
const findAt = (document: unknown, path: string): { pointer: string; value: unknown } => {
  let value: unknown = isObject(document) ? document['data'] : undefined;
  let pointer = '/data';
  for (const name of path.split('/')) {
    if (!isObject(value)) return { pointer, value: undefined };
    const given = Object.hasOwn(value, name) ? name : name.replaceAll('-', '_');
    value = Object.hasOwn(value, given) ? value[given] : undefined;
    pointer += `/${given}`;
  }
  return { pointer, value };
};

/** The unsupported fields of a document that ask for something, with the reasons. */
export const findUnsupported = (
  document: unknown,
  fields: UnsupportedFields = {},
): readonly Violation[] =>
  Object.entries(fields).flatMap(([path, reason]) => {
    const [name = '', only] = path.split('=', 2);
    const { pointer, value } = findAt(document, name);
    const isUnsupported = only === undefined ? asksForSomething(value) : value === only;
    return isUnsupported ? [{ pointer, text: reason }] : [];
  });

/** Warnings about the fields of a document that are accepted although they have no effect. */
export const warnOfUnsupported = (
  document: unknown,
  fields: UnsupportedFields | undefined,
): readonly string[] =>
  findUnsupported(document, fields).map(({ pointer, text }) => {
    const name = pointer.replace(/^\/data\/(attributes\/|relationships\/)?/, '');
    return `${name.replace(/\/data$/, '')} has no effect: ${text}`;
  });
