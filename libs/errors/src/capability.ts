/** Which part of the program an error comes from, for those who have only its log. */
import { HandlerFault } from './guarded.ts';

/** The place of a frame: the package, and the folder of the capability if the file is in one. */
const PLACE = /\/(?:deploy|libs|services)\/([\w-]+)\/src\/(?:([\w-]+)\/)?/;

/**
 * The capability in which an error arose: that of the innermost frame of this repository.
 * @returns such as "pki/acme"; "unknown" for an error that names none
 */
export const capabilityOf = (error: unknown): string => {
  if (error instanceof HandlerFault) return error.capability;
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const line of stack.split('\n')) {
    const [, name, folder] = PLACE.exec(line) ?? [];
    if (name !== undefined && !line.includes('/libs/errors/src/'))
      return folder === undefined ? name : `${name}/${folder}`;
  }
  return error instanceof Error && error.cause !== undefined
    ? capabilityOf(error.cause)
    : 'unknown';
};
