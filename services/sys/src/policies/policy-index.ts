/**
 * All policies of all namespaces, parsed, with the merged rules of the policy sets that tokens carry. An
 * index is immutable: after a policy changes, the next request gets a new one.
 */
import { parseDurationSeconds } from '@keelson/secrets-api';
import { deriveView, type Store } from '@keelson/storage';
import { LRUCache } from 'lru-cache';
import type { OnDamage } from '../damage/damage-register.ts';
import { Acl, mergePolicies, type NamedPolicy } from './domain/acl.ts';
import {
  DEFAULT_POLICY,
  DEFAULT_POLICY_TEXT,
  RESPONSE_WRAPPING_POLICY,
  RESPONSE_WRAPPING_POLICY_TEXT,
} from './domain/default-policy.ts';
import { type Identity, parametersIn, resolveParameter } from './domain/path-template.ts';
import { parsePolicyText, type WrittenRule } from './domain/policy-text.ts';
import { type PolicyRecord, policyKey, policyRecords } from './policy-records.ts';

/** Cached policy sets. Real clusters have far fewer; the limit bounds the memory an attacker can use. */
const MAX_READY_SETS = 4096;

const parse = (text: string): readonly WrittenRule[] => parsePolicyText(text, parseDurationSeconds);

const RESPONSE_WRAPPING_RULES = parse(RESPONSE_WRAPPING_POLICY_TEXT);
const DEFAULT_RULES = parse(DEFAULT_POLICY_TEXT);

/** By record, whose object stays the same while it is unchanged. */
const parsedRecords = new WeakMap<PolicyRecord, readonly WrittenRule[]>();

const rulesOf = (record: PolicyRecord): readonly WrittenRule[] => {
  let rules = parsedRecords.get(record);
  if (rules === undefined) {
    rules = parse(record.text);
    parsedRecords.set(record, rules);
  }
  return rules;
};

/** The holder of rights: a token, with its entity if it has one. */
export interface RightsHolder {
  /** Namespace of the policies. */
  readonly namespaceId: string;
  /** Sorted. */
  readonly policies: readonly string[];
  /** Undefined for a token without an entity: rules with parameters grant it nothing. */
  readonly identity?: Identity | undefined;
}

/** The policies of a set by their names. */
interface PolicySet {
  readonly named: readonly NamedPolicy[];
  /** Names of the parameters in the paths of their rules. */
  readonly parameters: readonly string[];
  /** The rights of a token without an entity. */
  readonly plain: Acl;
}

export class PolicyIndex {
  readonly #records: ReadonlyMap<string, PolicyRecord>;
  /** Policies whose records cannot be decrypted. */
  readonly damaged: ReadonlySet<string>;
  readonly #sets = new LRUCache<string, PolicySet>({ max: MAX_READY_SETS });
  /** Rights of sets with parameters, by the set and the values of the parameters. */
  readonly #resolved = new LRUCache<string, Acl>({ max: MAX_READY_SETS });

  /** Keys of policies are `<namespace id>/<name>`. */
  constructor(records: ReadonlyMap<string, PolicyRecord>, damaged: readonly string[]) {
    this.#records = records;
    this.damaged = new Set(damaged);
  }

  /**
   * The rights of a token. Unknown policies grant nothing. A damaged policy may have denied what the others
   * grant, so the token loses all rights.
   */
  aclOf({ namespaceId, policies, identity }: RightsHolder): Acl {
    const key = `${namespaceId} ${policies.join(' ')}`;
    const set = this.#setOf(key, namespaceId, policies);
    if (identity === undefined || set.parameters.length === 0) return set.plain;
    const values = set.parameters.map((name) => resolveParameter(identity, name) ?? null);
    // Tokens share rights only if all of their parameters have the same values.
    const resolvedKey = `${key} ${JSON.stringify(values)}`;
    let acl = this.#resolved.get(resolvedKey);
    if (acl === undefined) {
      acl = new Acl(mergePolicies(set.named, identity));
      this.#resolved.set(resolvedKey, acl);
    }
    return acl;
  }

  #setOf(key: string, namespaceId: string, policies: readonly string[]): PolicySet {
    let set = this.#sets.get(key);
    if (set === undefined) {
      const isDamaged = policies.some((name) => this.damaged.has(policyKey(namespaceId, name)));
      const named = isDamaged
        ? []
        : policies.flatMap((name) => this.#find(namespaceId, name) ?? []);
      const parameters = named.flatMap(({ rules }) =>
        rules.flatMap(({ path }) => parametersIn(path)),
      );
      set = {
        named,
        parameters: [...new Set(parameters)],
        plain: new Acl(mergePolicies(named, undefined)),
      };
      this.#sets.set(key, set);
    }
    return set;
  }

  #find(namespaceId: string, name: string): NamedPolicy | undefined {
    if (name === RESPONSE_WRAPPING_POLICY) return { name, rules: RESPONSE_WRAPPING_RULES };
    const record = this.#records.get(policyKey(namespaceId, name));
    if (record !== undefined) return { name, rules: rulesOf(record) };
    return name === DEFAULT_POLICY ? { name, rules: DEFAULT_RULES } : undefined;
  }
}

/**
 * The policies as of each call.
 * @param onDamage called with the damaged policies, as `<namespace id>/<name>`, at every rebuild
 */
export const policyIndexView = (store: Store, onDamage: OnDamage): (() => Promise<PolicyIndex>) =>
  deriveView(store, [policyRecords.prefix], async (reads) => {
    const { entries, damaged } = await policyRecords.readableEntries(reads);
    onDamage(damaged);
    return new PolicyIndex(new Map(entries), damaged);
  });
