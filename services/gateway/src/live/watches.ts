/** The paths that a live stream watches. */
import { KeelsonError } from '@keelson/errors';
import { isBelow, parseTarget } from '../request/request-target.ts';
import { isSignedAddress } from '../request/signed-address.ts';
import { API_V2, V1 } from '../request/surface.ts';

export interface Watch {
  readonly api: 'v1' | 'api_v2';
  /** Below the API's prefix, percent-encoded. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Whether it is a log at a signed address, for which only appended text is sent. */
  readonly isLog: boolean;
}

const MAX_WATCHES = 8;
const MAX_TARGET_LENGTH = 2048;

const invalid = (text: string): KeelsonError => new KeelsonError('request.invalid', { text });

const parseWatch = (target: string): Watch => {
  if (target.length > MAX_TARGET_LENGTH)
    throw invalid(`"watch" must not be longer than ${MAX_TARGET_LENGTH} characters`);
  const { path, query } = parseTarget(target);
  for (const [api, { prefix }] of [
    ['v1', V1],
    ['api_v2', API_V2],
  ] as const)
    if (isBelow(path, prefix)) {
      const below = path.slice(prefix.length) || '/';
      const isLog = api === 'api_v2' && isSignedAddress(below);
      return { api, path: below, query, isLog };
    }
  throw invalid('"watch" must be a path below /v1 or /api/v2');
};

/**
 * @param query of the request: `watch=%2Fv1%2Fsys%2Fhealth&watch=…`
 * @throws KeelsonError `request.invalid`
 */
export const parseWatches = (query: string): readonly Watch[] => {
  const targets = new URLSearchParams(query).getAll('watch');
  if (targets.length === 0 || targets.length > MAX_WATCHES)
    throw invalid(`"watch" must be given once to ${MAX_WATCHES} times`);
  return targets.map(parseWatch);
};
