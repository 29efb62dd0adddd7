/** Steps from each version of a kind of records to the next. */

/** A record as an older version of Keelson wrote it. */
export type OlderRecord = Readonly<Record<string, unknown>>;

/**
 * Pure functions by the version that they lead to: 2 makes version 2 of version 1. They stay for as long as
 * stores of the older version may be opened.
 */
export type Upgrades = Readonly<Record<number, (older: OlderRecord) => unknown>>;

/** @throws Error unless there is exactly one step to each version from 2 on */
export const requireEachStep = (name: string, version: number, upgrades: Upgrades): void => {
  const wanted = Array.from({ length: version - 1 }, (_, step) => String(step + 2));
  const found = Object.keys(upgrades);
  if (version < 1 || wanted.join() !== found.join())
    throw new Error(
      `collection ${name} of version ${version} has upgrades to [${found.join()}], not to [${wanted.join()}]`,
    );
};

/** The value in the version to which the last of the upgrades leads. */
export const upgradeFrom = (found: number, value: unknown, upgrades: Upgrades): unknown =>
  Object.entries(upgrades)
    .filter(([to]) => Number(to) > found)
    .reduce((older, [, step]) => step(older as OlderRecord), value);
