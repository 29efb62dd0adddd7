/**
 * Parses policy texts, HCL or JSON, into rules. Anything that is not understood is an error: a policy with an
 * ignored restriction would grant more than its author intended.
 */
import { KeelsonError } from '@keelson/errors';
import {
  type CapabilitySet,
  fromLegacyWord,
  parseCapabilities,
  uniteCapabilities,
} from './capabilities.ts';
import { parseHcl, parseJsonObject } from './hcl.ts';
import type { ParameterLists } from './parameter-rules.ts';
import { parsePathPattern } from './path-pattern.ts';
import type { PolicyRule } from './policy-rule.ts';
import { isBlock, type PolicyBlock, type PolicyEntry, type PolicyValue } from './policy-tree.ts';

const MAX_POLICY_BYTES = 1024 * 1024;
const MAX_POLICY_RULES = 10_000;

/** A rule as written, before its path parameters are filled in. */
export interface WrittenRule extends Omit<PolicyRule, 'pattern' | 'policies'> {
  readonly path: string;
}

const fail = (reason: string): never => {
  throw new KeelsonError('sys.policy_unparsable', { reason });
};

const toStrings = (value: PolicyValue, what: string): string[] => {
  const items = Array.isArray(value) ? value : [value];
  return items.map((item) => (typeof item === 'string' ? item : fail(`${what}: expected strings`)));
};

const toPlain = (value: PolicyValue): unknown => {
  if (Array.isArray(value)) return value.map(toPlain);
  return isBlock(value)
    ? Object.fromEntries(
        value.entries.map(({ keys, value: inner }) => [keys.join(' '), toPlain(inner)]),
      )
    : value;
};

const toLists = (value: PolicyValue, what: string): ParameterLists => {
  if (!isBlock(value)) return fail(`${what}: expected an object`);
  const lists = new Map<string, readonly unknown[]>();
  for (const entry of value.entries) {
    const [name = ''] = entry.keys;
    if (!Array.isArray(entry.value)) return fail(`${what}: "${name}" must be a list of values`);
    const key = name.toLowerCase();
    if (lists.has(key)) fail(`${what}: "${name}" is given twice`);
    lists.set(key, entry.value.map(toPlain));
  }
  return lists;
};

/** Seconds of "90" or "1h30m"; undefined when the text is not a duration. */
export type ReadDuration = (text: string) => number | undefined;

const toSeconds = (value: PolicyValue, what: string, read: ReadDuration): number => {
  const seconds =
    typeof value === 'number' ? value : typeof value === 'string' ? read(value) : undefined;
  return seconds !== undefined && Number.isSafeInteger(seconds) && seconds >= 0
    ? seconds
    : fail(`${what}: expected a duration`);
};

const isEmpty = (value: PolicyValue): boolean =>
  (Array.isArray(value) && value.length === 0) || (isBlock(value) && value.entries.length === 0);

const toRule = (path: string, block: PolicyBlock, read: ReadDuration): WrittenRule => {
  const at = (name: string): string => `path "${path}": ${name}`;
  let capabilities: CapabilitySet | undefined;
  let legacy: CapabilitySet | undefined;
  let required: ReadonlySet<string> = new Set();
  let allowed: ParameterLists | undefined;
  let denied: ParameterLists | undefined;
  let minWrappingTtlSeconds = 0;
  let maxWrappingTtlSeconds = 0;
  const seen = new Set<string>();
  for (const { keys, value, line } of block.entries) {
    const [name = ''] = keys;
    if (seen.has(name)) fail(at(`"${name}" is given twice`));
    seen.add(name);
    switch (name) {
      case 'capabilities':
        capabilities = parseCapabilities(toStrings(value, at(name)), path);
        break;
      case 'policy':
        legacy = typeof value === 'string' ? fromLegacyWord(value) : undefined;
        if (legacy === undefined) fail(at(`invalid policy ${JSON.stringify(value)}`));
        break;
      case 'required_parameters':
        required = new Set(toStrings(value, at(name)).map((one) => one.toLowerCase()));
        break;
      case 'allowed_parameters':
        allowed = toLists(value, at(name));
        break;
      case 'denied_parameters':
        denied = toLists(value, at(name));
        break;
      case 'min_wrapping_ttl':
        minWrappingTtlSeconds = toSeconds(value, at(name), read);
        break;
      case 'max_wrapping_ttl':
        maxWrappingTtlSeconds = toSeconds(value, at(name), read);
        break;
      case 'comment':
        break;
      case 'mfa_methods':
      case 'control_group':
        // Neither exists here; accepting the text without enforcing them would drop a safeguard.
        if (!isEmpty(value)) fail(at(`${name} is not supported`));
        break;
      default:
        fail(at(`invalid key "${name}" on line ${line}`));
    }
  }
  if (maxWrappingTtlSeconds !== 0 && maxWrappingTtlSeconds < minWrappingTtlSeconds) {
    fail(at('max_wrapping_ttl cannot be less than min_wrapping_ttl'));
  }
  return {
    path: path.startsWith('/') ? path.slice(1) : path,
    capabilities: uniteCapabilities(capabilities ?? 0, legacy ?? 0),
    parameters: { required, allowed, denied },
    minWrappingTtlSeconds,
    maxWrappingTtlSeconds,
  };
};

/** The `path "x" {…}` blocks of HCL, or the equivalent nested objects or lists of objects of JSON. */
const pathBlocks = ({ keys, value, line }: PolicyEntry): { path: string; block: PolicyBlock }[] => {
  const [, path] = keys;
  if (path !== undefined && keys.length === 2 && isBlock(value)) return [{ path, block: value }];
  const objects = Array.isArray(value) ? (value as readonly PolicyValue[]) : [value];
  return objects.flatMap((object) => {
    if (keys.length !== 1 || !isBlock(object))
      return fail(`line ${line}: path takes one name and a block`);
    return object.entries.map((entry) => {
      const [name = ''] = entry.keys;
      const inner =
        Array.isArray(entry.value) && entry.value.length === 1 ? entry.value[0] : entry.value;
      return inner !== undefined && isBlock(inner as PolicyValue)
        ? { path: name, block: inner as PolicyBlock }
        : fail(`path "${name}": expected a block`);
    });
  });
};

/** @throws KeelsonError `sys.policy_unparsable` with the position and the reason */
export const parsePolicyText = (
  text: string,
  readDuration: ReadDuration,
): readonly WrittenRule[] => {
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) fail(`longer than ${MAX_POLICY_BYTES} bytes`);
  const document = text.trimStart().startsWith('{') ? parseJsonObject(text) : parseHcl(text);
  const rules: WrittenRule[] = [];
  for (const entry of document.entries) {
    const [name = ''] = entry.keys;
    if (name === 'path') {
      for (const { path, block } of pathBlocks(entry))
        rules.push(toRule(path, block, readDuration));
    } else if (name !== 'name') {
      fail(`invalid key "${name}" on line ${entry.line}`);
    }
    if (rules.length > MAX_POLICY_RULES) fail(`more than ${MAX_POLICY_RULES} paths`);
  }
  // Invalid wildcards are refused when the policy is written, not when a token first uses it.
  for (const rule of rules) parsePathPattern(rule.path);
  return rules;
};
