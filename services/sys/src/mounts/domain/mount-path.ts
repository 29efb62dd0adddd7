/** Rules for the paths of mounts. */
import { KeelsonError } from '@keelson/errors';

const PROTECTED = ['sys/', 'cubbyhole/', 'auth/', 'identity/', 'audit/'];
const MAX_PATH_LENGTH = 512;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** "/team//pki" -> "team/pki/". */
export const toMountPath = (path: string): string =>
  `${path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')}/`;

/**
 * The normalized path of a new mount.
 * @throws KeelsonError `request.invalid`
 */
export const requireMountPath = (given: string): string => {
  const path = toMountPath(given);
  if (path === '/') return refuse('a mount path is required');
  if (path.length > MAX_PATH_LENGTH)
    return refuse(`a mount path has at most ${MAX_PATH_LENGTH} characters`);
  // `+` and `*` are policy wildcards, dot segments could climb, `?` and `#` end a path in a URL.
  if (
    !/^[\p{L}\p{N}_.~@:=,/ -]+$/u.test(path) ||
    path.split('/').some((name) => /^\.+$/.test(name))
  )
    return refuse('a mount path consists of letters, digits and the characters _ - . ~ @ : = , /');
  const reserved = PROTECTED.find((prefix) => path.startsWith(prefix));
  return reserved === undefined ? path : refuse(`cannot mount under existing mount "${reserved}"`);
};

/** A taken path that equals, contains or lies below `path`: two such mounts would be ambiguous. */
export const findConflict = (path: string, taken: Iterable<string>): string | undefined => {
  for (const other of taken) if (other.startsWith(path) || path.startsWith(other)) return other;
  return undefined;
};
