/**
 * The version of each kind of records that may be written to a store. It is raised once no process of the version
 * before has to read it any more; until then, newer processes write records that those can read. The head of the
 * store holds the versions from 2 on, as JSON.
 */
import { KeelsonError } from '@keelson/errors';
import type { RecordKind } from './codec.ts';

type Versions = Readonly<Record<string, number>>;

const parse = (text: string): Versions => (text === '' ? {} : JSON.parse(text));

const toText = (versions: ReadonlyMap<string, number>): string =>
  JSON.stringify(
    Object.fromEntries(
      [...versions]
        .filter(([, version]) => version > 1)
        .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    ),
  );

/** The kinds that a process knows, with their newest versions. */
const newest = (declared: readonly RecordKind[]): Map<string, number> => {
  const versions = new Map<string, number>();
  for (const { kind, version } of declared)
    versions.set(kind, Math.max(version, versions.get(kind) ?? 1));
  return versions;
};

export class RecordVersions {
  readonly #own: ReadonlyMap<string, number>;
  #text = '';
  #written: Versions = {};
  #areNewer = false;

  /** @param declared kinds of records that this process knows */
  constructor(declared: readonly RecordKind[]) {
    this.#own = newest(declared);
  }

  /** The text of the head. */
  get text(): string {
    return this.#text;
  }

  /** The versions of this process, as the head of a new store holds them. */
  get own(): string {
    return toText(this.#own);
  }

  /** Takes over what the head of the store says. */
  see(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#written = parse(text);
    this.#areNewer = Object.entries(this.#written).some(
      ([kind, version]) => version > (this.#own.get(kind) ?? version),
    );
  }

  /** @throws KeelsonError `storage.superseded` when records may be of a version that this process cannot read */
  requireKnown(): void {
    if (this.#areNewer) throw new KeelsonError('storage.superseded');
  }

  /** The newest version of a kind that may be written. */
  writable(kind: string): number {
    return this.#written[kind] ?? 1;
  }

  /** Kinds of which this process would write a newer version if the versions were raised. */
  get pending(): readonly string[] {
    return [...this.#own].flatMap(([kind, version]) =>
      version > this.writable(kind) ? [kind] : [],
    );
  }

  /** The text of the head once the versions are raised to those of this process. */
  get raised(): string {
    const known = new Map<string, number>(Object.entries(this.#written));
    for (const [kind, version] of this.#own)
      known.set(kind, Math.max(version, known.get(kind) ?? 1));
    return toText(known);
  }
}
