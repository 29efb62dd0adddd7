/** The file in which a process that an exception ends leaves the count for the one that is started after it. */
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addUncaughtExceptions, countUncaughtExceptions } from '@keelson/errors';

/** Readable and writable by the owner alone. */
const PRIVATE = 0o600;
/** A name in a folder that others write to may be a link to another file. */
const NEITHER_LINK = constants.O_NOFOLLOW;

/** For a process without a data folder. It outlives a restart of the process in the same container or machine. */
export const temporaryExceptionFile = (name: string): string =>
  join(tmpdir(), `${name}-exceptions-${process.getuid?.() ?? 0}.json`);

const withFile = <T>(file: string, flags: number, use: (descriptor: number) => T): T => {
  const descriptor = openSync(file, flags | NEITHER_LINK, PRIVATE);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** Counts what processes before this one have left. A file that cannot be read counts as none. */
export const readExceptions = (file: string): void => {
  try {
    const text = withFile(file, constants.O_RDONLY, (descriptor) =>
      readFileSync(descriptor, 'utf8'),
    );
    for (const [capability, count] of Object.entries(JSON.parse(text) as object))
      if (Number.isSafeInteger(count) && count > 0) addUncaughtExceptions(capability, count);
  } catch {
    // Usually there is none. A damaged file costs the count, and a metric is not worth the start.
  }
};

/** Counts an exception, and writes all counts. @throws Error of the file system */
export const keepException = (file: string, capability: string): void => {
  addUncaughtExceptions(capability);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
  const text = JSON.stringify(Object.fromEntries(countUncaughtExceptions()));
  withFile(file, flags, (descriptor) => writeFileSync(descriptor, text));
};
