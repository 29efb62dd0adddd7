/**
 * Parses HCL or JSON text into entries. A policy needs blocks, attributes, lists and objects; expressions and
 * interpolation are not part of its language (docs/decisions: policy parser).
 */
import { KeelsonError } from '@keelson/errors';
import { type HclToken, hclTokens } from './hcl-tokens.ts';
import {
  MAX_POLICY_DEPTH,
  type PolicyBlock,
  type PolicyEntry,
  type PolicyValue,
} from './policy-tree.ts';

class HclReader {
  readonly #tokens: Generator<HclToken, void>;
  #next: HclToken;
  #depth = 0;

  constructor(text: string) {
    this.#tokens = hclTokens(text);
    this.#next = this.#pull();
  }

  /** All entries up to `closer` ("}" or the end of the text). */
  entries(closer: '}' | 'end of text'): PolicyBlock {
    this.#enter();
    const entries: PolicyEntry[] = [];
    while (this.#next.text !== closer || this.#next.kind === 'string') {
      entries.push(this.#entry());
      // Inside an object, entries may be separated by commas.
      if (this.#isPunctuation(',')) this.#take();
    }
    if (closer === '}') this.#take();
    this.#depth -= 1;
    return { entries };
  }

  /** The whole text as one object in braces. */
  object(): PolicyBlock {
    this.#take();
    return this.entries('}');
  }

  #entry(): PolicyEntry {
    const { line } = this.#next;
    const keys: string[] = [];
    while (this.#next.kind === 'identifier' || this.#next.kind === 'string') {
      keys.push(this.#take().text);
    }
    if (keys.length === 0) this.#fail('expected a key');
    if (this.#isPunctuation('=') || this.#isPunctuation(':')) {
      if (keys.length > 1) this.#fail('an attribute has one key');
      this.#take();
      return { keys, value: this.#value(), line };
    }
    if (!this.#isPunctuation('{')) this.#fail(`expected "=" or "{" after "${keys.at(-1)}"`);
    this.#take();
    return { keys, value: this.entries('}'), line };
  }

  #value(): PolicyValue {
    const token = this.#take();
    switch (token.kind) {
      case 'string':
        return token.text;
      case 'number':
        return Number(token.text);
      case 'identifier':
        if (token.text === 'true' || token.text === 'false') return token.text === 'true';
        return this.#fail(`unexpected word "${token.text}"`);
      case 'punctuation':
        if (token.text === '{') return this.entries('}');
        if (token.text === '[') return this.#list();
        return this.#fail(`unexpected "${token.text}"`);
      case 'end':
        return this.#fail('unexpected end of text');
    }
  }

  #list(): readonly PolicyValue[] {
    this.#enter();
    const items: PolicyValue[] = [];
    while (!this.#isPunctuation(']')) {
      items.push(this.#value());
      if (this.#isPunctuation(',')) this.#take();
      else if (!this.#isPunctuation(']')) this.#fail('expected "," or "]" in a list');
    }
    this.#take();
    this.#depth -= 1;
    return items;
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > MAX_POLICY_DEPTH) this.#fail(`nested deeper than ${MAX_POLICY_DEPTH} levels`);
  }

  #isPunctuation(text: string): boolean {
    return this.#next.kind === 'punctuation' && this.#next.text === text;
  }

  #take(): HclToken {
    const token = this.#next;
    if (token.kind !== 'end') this.#next = this.#pull();
    return token;
  }

  #pull(): HclToken {
    const { value } = this.#tokens.next();
    return value ?? { kind: 'end', text: 'end of text', line: 0 };
  }

  #fail(reason: string): never {
    throw new KeelsonError('sys.policy_unparsable', {
      reason: `line ${this.#next.line}: ${reason}`,
    });
  }
}

/** @throws KeelsonError `sys.policy_unparsable` */
export const parseHcl = (text: string): PolicyBlock => new HclReader(text).entries('end of text');

/**
 * Parses a JSON object with the HCL parser, as JSON objects are valid HCL. This keeps every entry, whereas
 * `JSON.parse` keeps only the last one of a name and would lose an earlier deny.
 * @throws KeelsonError `sys.policy_unparsable`
 */
export const parseJsonObject = (text: string): PolicyBlock => {
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new KeelsonError('sys.policy_unparsable', { reason: 'invalid JSON' }, { cause });
  }
  return new HclReader(text).object();
};
