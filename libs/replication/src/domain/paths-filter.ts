/**
 * The mounts and namespaces that a performance secondary receives. Paths are full and end with a slash
 * ("team/kv/", "team/"); a namespace includes everything below it.
 *
 *   allow   only what is listed, and the namespaces on the way to it
 *   deny    all but what is listed
 *
 * The filter does not apply to what every cluster needs: the system, identity, policy, token and
 * cubbyhole mounts.
 */
import { KeelsonError } from '@keelson/errors';

export const FILTER_MODES = ['allow', 'deny'] as const;
export type FilterMode = (typeof FILTER_MODES)[number];

export interface PathsFilter {
  readonly mode: FilterMode;
  readonly paths: readonly string[];
}

export interface FilterablePath {
  readonly type: 'mount' | 'namespace';
  readonly path: string;
}

const MAX_PATHS = 1000;
const MAX_PATH_LENGTH = 1024;
// oxlint-disable-next-line no-control-regex -- control characters are what it refuses
const FORBIDDEN = /[\u0000-\u001f\u007f]/;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Normalizes a path: no leading slashes, one trailing slash. */
const normalize = (path: string): string => {
  if (path.length > MAX_PATH_LENGTH || FORBIDDEN.test(path)) refuse('invalid path in paths');
  const segments = path
    .replace(/^\/+/, '')
    .replace(/(?<!\/)\/+$/, '')
    .split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    refuse(`invalid path in paths: "${path}"`);
  return `${segments.join('/')}/`;
};

/** @throws KeelsonError `request.invalid` */
export const parsePathsFilter = (mode: string, paths: readonly string[]): PathsFilter => {
  if (mode !== 'allow' && mode !== 'deny') return refuse(`invalid mode: "${mode}"`);
  if (paths.length > MAX_PATHS) refuse(`more than ${MAX_PATHS} paths`);
  return { mode, paths: [...new Set(paths.map(normalize))].sort() };
};

const isAtOrBelow = (path: string, listed: string): boolean => path.startsWith(listed);

/** Whether the secondary receives it. */
export const passesFilter = (
  { mode, paths }: PathsFilter,
  { type, path }: FilterablePath,
): boolean => {
  const isListed = paths.some((listed) => isAtOrBelow(path, listed));
  if (mode === 'deny') return !isListed;
  return isListed || (type === 'namespace' && paths.some((listed) => isAtOrBelow(listed, path)));
};

export interface DynamicFilter {
  readonly dynamic_filtered_mounts: readonly string[];
  readonly dynamic_filtered_namespaces: readonly string[];
}

/** The subset of `all` that the filter withholds from the secondary. */
export const toDynamicFilter = (
  filter: PathsFilter,
  all: readonly FilterablePath[],
): DynamicFilter => {
  const filtered = (type: FilterablePath['type']): readonly string[] =>
    all
      .filter((one) => one.type === type && !passesFilter(filter, one))
      .map(({ path }) => path)
      .sort();
  return {
    dynamic_filtered_mounts: filtered('mount'),
    dynamic_filtered_namespaces: filtered('namespace'),
  };
};
