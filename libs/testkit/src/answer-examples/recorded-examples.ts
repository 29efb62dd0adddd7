/**
 * Successful answers of tests as examples for the OpenAPI documents. Each process of tests keeps the best answer
 * to an operation in a file of its own.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { membersOf, plainDocument } from './plain-values.ts';

export interface Example {
  readonly status: number;
  readonly document: unknown;
}

/** Larger answers are left out. */
const MAX_CHARACTERS = 6000;
const SUCCESS = [200, 201, 202];

const textOf = (example: Example): string => JSON.stringify(example);

const hasWarnings = (text: string): number => Number(text.includes('"warnings":['));

/** An example that shows more is better, then one without warnings; the order of their texts makes runs agree. */
const isBetter = (one: Example, other: Example): boolean => {
  const [text, otherText] = [textOf(one), textOf(other)];
  const difference =
    membersOf(one.document) - membersOf(other.document) ||
    hasWarnings(otherText) - hasWarnings(text);
  return difference === 0 ? text < otherText : difference > 0;
};

export class ExampleRecorder {
  readonly #folder: string;
  readonly #kept = new Map<string, Example>();

  /** @param folder for the examples of one API */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** @param key method and path, such as "GET /sys/health" */
  record(key: string, status: number, body: string): void {
    if (!SUCCESS.includes(status) || body === '') return;
    const example = { status, document: plainDocument(JSON.parse(body)) };
    const kept = this.#kept.get(key);
    if (textOf(example).length > MAX_CHARACTERS || (kept && !isBetter(example, kept))) return;
    this.#kept.set(key, example);
    const file = join(this.#folder, `${process.pid}.json`);
    writeFileSync(file, JSON.stringify(Object.fromEntries(this.#kept)));
  }
}

/** The best example of each operation, by method and path. */
export const bestExamples = (folder: string): Readonly<Record<string, Example>> => {
  const best = new Map<string, Example>();
  for (const file of readdirSync(folder).toSorted()) {
    const kept = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, Example>;
    for (const [key, example] of Object.entries(kept)) {
      const known = best.get(key);
      if (known === undefined || isBetter(example, known)) best.set(key, example);
    }
  }
  return Object.fromEntries([...best].toSorted(([a], [b]) => (a < b ? -1 : 1)));
};
