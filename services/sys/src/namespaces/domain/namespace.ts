/** A namespace: a tenant with its own mounts, policies, tokens and messages. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const namespaceRecordShape = Type.Object({
  /** Five letters and digits; never reused. */
  id: Type.String(),
  /** Full path with a trailing slash: "team-a/web/". */
  path: Type.String(),
  customMetadata: Type.Record(Type.String(), Type.String()),
  /** Its content is being removed; it serves no requests. */
  isDeleting: Type.Boolean(),
});
export type NamespaceRecord = Shaped<typeof namespaceRecordShape>;

export const ROOT_NAMESPACE_ID = 'root';

/** Written without the trailing slash; the root is "". */
export const ROOT: NamespaceRecord = {
  id: ROOT_NAMESPACE_ID,
  path: '',
  customMetadata: {},
  isDeleting: false,
};

const RESERVED = new Set(['root', 'sys', 'audit', 'auth', 'cubbyhole', 'identity']);
const MAX_NAME_LENGTH = 128;
const MAX_DEPTH = 16;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** "/a//b/" -> ["a", "b"]. */
export const toSegments = (path: string): string[] =>
  path.split('/').filter((segment) => segment !== '');

/** "/a/b" -> "a/b/"; "" stays "". */
export const toNamespacePath = (path: string): string => {
  const segments = toSegments(path);
  return segments.length === 0 ? '' : `${segments.join('/')}/`;
};

const requireName = (name: string): void => {
  // Scripts and people read a name that differs in case or width alone as the reserved one.
  if (RESERVED.has(name.normalize('NFKC').toLowerCase()))
    refuse(`"${name}" is a reserved path and cannot be used as a namespace`);
  if (name.length > MAX_NAME_LENGTH)
    refuse(`a namespace name must have at most ${MAX_NAME_LENGTH} characters`);
  // `+` and `*` are policy wildcards; a dot path could climb.
  if (!/^[\p{L}\p{N}_.~@:=,-]+$/u.test(name) || /^\.+$/.test(name))
    refuse('a namespace name consists of letters, digits and the characters _ - . ~ @ : = ,');
};

/**
 * The full path of a namespace that is named relative to another.
 * @throws KeelsonError `request.invalid` for a reserved or malformed name
 */
export const requireChildPath = (parentPath: string, relativePath: string): string => {
  const names = toSegments(relativePath);
  if (names.length === 0) refuse('a namespace path is required');
  for (const name of names) requireName(name);
  const path = `${parentPath}${names.join('/')}/`;
  if (toSegments(path).length > MAX_DEPTH)
    refuse(`namespaces nest at most ${MAX_DEPTH} levels deep`);
  return path;
};

/** "a/b/" -> "a/"; "a/" -> "". */
export const parentPathOf = (path: string): string =>
  path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
