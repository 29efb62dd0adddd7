/**
 * The golden stores: for each release, a data folder that it wrote, a snapshot of it, what it published to a
 * secondary with the data folder of that, data folders of clusters whose roles have changed, the answers to requests that
 * read it, and the table of the kinds of records. `npm run golden` makes that of the current version.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declaredRecords, recordFacts } from '@keelson/storage';
import type { GoldenRead } from './golden-calls.ts';

export const GOLDEN_FOLDER = join(import.meta.dirname, '../testdata/golden');
const ARCHIVE = '.tar.gz';

/** Contents of an archive. */
export const DATA = 'data';
/** Data folder of a secondary that has applied nothing of `STREAM` but its beginning. */
export const SECONDARY = 'secondary';
/** Data folders of clusters whose roles have changed. */
export const EXCHANGED = ['former', 'successor', 'branch'] as const;
/** The messages of the primary. */
export const STREAM = 'stream.jsonl';
export const SNAPSHOT = 'golden.snapshot';
export const ANSWERS = 'answers.json';

/** A request that reads, and what is in its answer at any time and address. */
export interface GoldenAnswer extends GoldenRead {
  readonly answer: object;
}

/** Version and digest of the shape by the place of a kind of records. */
export type GoldenRecords = ReturnType<typeof recordFacts>;

/** Names such as `0.1.0-2026-11-28`, the newest last. */
export const goldenNames = (): readonly string[] =>
  readdirSync(GOLDEN_FOLDER)
    .filter((file) => file.endsWith(ARCHIVE))
    .map((file) => file.slice(0, -ARCHIVE.length))
    .sort(new Intl.Collator('en', { numeric: true }).compare);

export const archiveOf = (name: string): string => join(GOLDEN_FOLDER, `${name}${ARCHIVE}`);
export const recordsFileOf = (name: string): string => join(GOLDEN_FOLDER, `${name}.records.json`);

export const unpackGolden = (name: string, to: string): void => {
  execFileSync('tar', ['-xzf', archiveOf(name), '-C', to, '--no-same-owner']);
};

/** Attributes that later versions answer otherwise on purpose. */
const ANSWERED_OTHERWISE = [
  // It depends on the token since: an API token of an account that signs in cannot change the mail address.
  'can-change-email',
];

/** The answers of the version that made the store, as far as today's is to answer the same. */
export const loadAnswers = (folder: string): readonly GoldenAnswer[] =>
  JSON.parse(readFileSync(join(folder, ANSWERS), 'utf8'), (name, value: unknown) =>
    ANSWERED_OTHERWISE.includes(name) ? undefined : value,
  );

export const loadGoldenRecords = (name: string): GoldenRecords =>
  JSON.parse(readFileSync(recordsFileOf(name), 'utf8'));

/** The facts about the declarations of today. The caller imports the modules that declare them. */
export const currentRecords = (): GoldenRecords => recordFacts(declaredRecords());
