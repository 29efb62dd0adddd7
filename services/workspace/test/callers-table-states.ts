/** The table of callers, continued: states and the data extracted from them. */
import {
  ADMINS,
  attributes,
  BACKING_DATA_PATHS,
  type Case,
  LOCKERS,
  READERS,
  W,
} from './callers-table.ts';

const V = '/state-versions/{state_version_id}';
const DIGEST = '0'.repeat(32);

/** Also with the token of a run of the workspace. */
const readForRuns = (target: string): Case => ({
  ...read(target),
  allowed: [...READERS, 'run'],
});
const read = (target: string): Case => ({ target, allowed: READERS, success: 200 });
// It is current and cannot be changed, so authorized callers get 400.
const backingData = (action: string): Case => ({
  target: `/state-versions/{sv}/actions/${action}`,
  allowed: ADMINS,
  success: 400,
});
const signed = (target: string): Case => ({ target, allowed: [], success: 0, everyone: 403 });

export const STATE_CASES: Readonly<Record<string, Case>> = {
  // Nobody holds the lock: 409 is for who could.
  [`POST ${W}/state-versions`]: {
    target: '/workspaces/{ws}/state-versions',
    body: attributes('state-versions', { serial: 1, md5: DIGEST }),
    allowed: LOCKERS,
    success: 409,
  },
  [`PATCH ${W}/state-versions`]: {
    target: '/workspaces/{ws}/state-versions',
    body: attributes(
      'state-versions',
      {},
      { 'rollback-state-version': { data: { type: 'state-versions', id: '{sv}' } } },
    ),
    allowed: LOCKERS,
    success: 409,
  },
  'GET /state-versions': read(
    '/state-versions?filter[organization][name]=acme&filter[workspace][name]=subject',
  ),
  [`GET ${W}/resources`]: read('/workspaces/{ws}/resources'),
  [`GET ${V}`]: readForRuns('/state-versions/{sv}'),
  [`GET ${V}/outputs`]: readForRuns('/state-versions/{sv}/outputs'),
  [`GET ${W}/current-state-version`]: readForRuns('/workspaces/{ws}/current-state-version'),
  [`GET ${W}/current-state-version-outputs`]: readForRuns(
    '/workspaces/{ws}/current-state-version-outputs',
  ),
  'GET /state-version-outputs/{output_id}': readForRuns('/state-version-outputs/{wsout}'),
  ...Object.fromEntries(
    BACKING_DATA_PATHS.map((action) => [`POST ${V}/actions/${action}`, backingData(action)]),
  ),
  [`PUT /uploads${V}/state`]: signed('/uploads/state-versions/{sv}/state'),
  [`PUT /uploads${V}/json-state`]: signed('/uploads/state-versions/{sv}/json-state'),
  [`GET /downloads${V}/state/{token_id}`]: signed('/downloads/state-versions/{sv}/state/{at}'),
  [`GET /downloads${V}/json-state/{token_id}`]: signed(
    '/downloads/state-versions/{sv}/json-state/{at}',
  ),
};
