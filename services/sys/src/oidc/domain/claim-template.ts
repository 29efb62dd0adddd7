/**
 * Templates of claims: JSON in which parameters such as `{{identity.entity.groups.names}}` stand for JSON values. A
 * value is encoded where it is filled in, so that no name or metadata of anybody can add a claim.
 */
import { KeelsonError } from '@keelson/errors';
import {
  type Identity,
  type ParameterValue,
  replaceParameters,
  resolveValue,
} from '../../policies/domain/path-template.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Claims of every token, which no template may set. */
const RESERVED_CLAIMS: ReadonlySet<string> = new Set([
  'iat',
  'aud',
  'exp',
  'iss',
  'sub',
  'namespace',
  'nonce',
  'auth_time',
  'at_hash',
  'c_hash',
]);

export const MAX_TEMPLATE = 16_384;
/** Longest claims: what fits into a header of most servers is shorter. */
const MAX_FILLED = 65_536;

/** Where the values come from. */
export interface TemplateValues {
  /** Undefined to try a template: all parameters are then empty. */
  readonly identity: Identity | undefined;
  readonly nowMs: number;
  /** Whole seconds; undefined for a text that is no duration. */
  readonly parseSeconds: (text: string) => number | undefined;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The template of a parameter, which may be in base64. */
export const decodeTemplate = (given: string): string => {
  const trimmed = given.trim();
  return BASE64.test(trimmed) ? Buffer.from(trimmed, 'base64').toString() : given;
};

/** The values of parameters while nobody has any. */
const EMPTY: readonly (readonly [RegExp, ParameterValue])[] = [
  [/^(?:id|name|metadata\..+)$/, ''],
  [/^aliases\.[^.]+\.(?:id|name|(?:custom_)?metadata\..+)$/, ''],
  [/^(?:metadata|aliases\.[^.]+\.(?:custom_)?metadata)$/, {}],
  [/^groups\.(?:ids|names)$/, []],
];

const ENTITY = 'identity.entity.';

const emptyValue = (name: string): ParameterValue =>
  (name.startsWith(ENTITY)
    ? EMPTY.find(([form]) => form.test(name.slice(ENTITY.length)))?.[1]
    : undefined) ?? refuse(`error parsing template: "${name}" is no parameter of claims`);

/** `time.now`, or a time before or after it, in epoch seconds; undefined for another parameter. */
const timeOf = (name: string, { nowMs, parseSeconds }: TemplateValues): number | undefined => {
  const now = Math.floor(nowMs / 1000);
  if (name === 'time.now') return now;
  const [, sign, duration = ''] = /^time\.now\.(plus|minus)\.(.+)$/.exec(name) ?? [];
  if (sign === undefined) return undefined;
  const seconds =
    parseSeconds(duration) ?? refuse(`error parsing template: "${duration}" is no duration`);
  return sign === 'plus' ? now + seconds : now - seconds;
};

/**
 * The claims of a template.
 * @throws KeelsonError `request.invalid` if the template is not JSON, names an unknown parameter or sets a claim that
 * every token has
 */
export const fillTemplate = (template: string, values: TemplateValues): Claims => {
  if (template === '') return {};
  const text = replaceParameters(template, (name) => {
    const empty = timeOf(name, values) ?? emptyValue(name);
    const found =
      typeof empty === 'number' || values.identity === undefined
        ? undefined
        : resolveValue(values.identity, name);
    return JSON.stringify(found ?? empty);
  });
  if (text.length > MAX_FILLED) return refuse('the claims of the template are too long');
  let claims: unknown;
  try {
    claims = JSON.parse(text);
  } catch {
    return refuse('error parsing template JSON: it is not valid');
  }
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    return refuse('error parsing template JSON: it is not an object');
  const reserved = Object.keys(claims).find((name) => RESERVED_CLAIMS.has(name));
  if (reserved !== undefined)
    return refuse(
      `top level key "${reserved}" not allowed. Restricted keys: ${[...RESERVED_CLAIMS].join(', ')}`,
    );
  return claims as Claims;
};

/** Claims of several templates. @throws KeelsonError `request.invalid` for a claim that two of them set */
export const mergeClaims = (
  parts: readonly { readonly scope: string; readonly claims: Claims }[],
): Claims => {
  const owners = new Map<string, string>();
  for (const { scope, claims } of parts)
    for (const name of Object.keys(claims)) {
      const other = owners.get(name);
      if (other !== undefined)
        refuse(
          `found scopes with conflicting top-level claim: claim "${name}" in scopes "${scope}", "${other}"`,
        );
      owners.set(name, scope);
    }
  return Object.assign({}, ...parts.map(({ claims }) => claims)) as Claims;
};
