/** Steps between each version of a kind of records and the next. */

/** A record in the shape of one of its versions. */
export type VersionedRecord = Readonly<Record<string, unknown>>;

/** Pure functions between a version and the one before. */
export interface UpgradeStep {
  /** Makes a record of this version of one of the version before. */
  readonly up: (older: VersionedRecord) => unknown;
  /**
   * Makes a record of the version before, for as long as processes of that version may run. A value that it does
   * not bring through, so that `up` would not return it, is refused until then.
   * @param replaced the record of the version before that is overwritten, with what this version has no place for;
   *   undefined for a new record
   */
  readonly down: (newer: VersionedRecord, replaced: VersionedRecord | undefined) => unknown;
}

/**
 * By the version that each step leads to: 2 is between version 1 and version 2. A step stays for as long as stores
 * of its older version may be opened.
 */
export type Upgrades = Readonly<Record<number, UpgradeStep>>;

/** @throws Error unless there is exactly one step to each version from 2 on */
export const requireEachStep = (name: string, version: number, upgrades: Upgrades): void => {
  const wanted = Array.from({ length: version - 1 }, (_, step) => String(step + 2));
  const found = Object.keys(upgrades);
  if (version < 1 || wanted.join() !== found.join())
    throw new Error(
      `collection ${name} of version ${version} has upgrades to [${found.join()}], not to [${wanted.join()}]`,
    );
};

interface VersionedValue {
  readonly version: number;
  readonly value: unknown;
}

/** The value in version `to`, which is not older than its own. */
export const upgradeTo = (
  to: number,
  { version, value }: VersionedValue,
  upgrades: Upgrades,
): unknown =>
  Object.entries(upgrades)
    .filter(([step]) => Number(step) > version && Number(step) <= to)
    .reduce((older, [, { up }]) => up(older as VersionedRecord), value);

/**
 * The value in version `to`, which is not newer than its own.
 * @param replaced the stored record that is overwritten
 */
export const downgradeTo = (
  to: number,
  { version, value }: VersionedValue,
  replaced: VersionedValue | undefined,
  upgrades: Upgrades,
): unknown =>
  Object.entries(upgrades)
    .filter(([step]) => Number(step) > to && Number(step) <= version)
    .reduceRight((newer, [step, { down }]) => {
      const before = Number(step) - 1;
      const isOlder = replaced !== undefined && replaced.version <= before;
      const former = isOlder ? upgradeTo(before, replaced, upgrades) : undefined;
      return down(newer as VersionedRecord, former as VersionedRecord | undefined);
    }, value);
