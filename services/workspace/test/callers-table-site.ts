/** The table of callers, continued: the site, and the description of the API. */
import { attributes, type Case } from './callers-table.ts';

const RETENTION = '/admin/data-retention-policy-settings';
const policy = attributes('data-retention-policy-delete-olders', { deleteOlderThanNDays: 30 });
const ofSite = (success: number, body?: unknown): Case => ({
  target: RETENTION,
  ...(body === undefined ? {} : { body }),
  allowed: ['site'],
  success,
});
const described = (name: string): Case => ({
  target: `/openapi/${name}.json`,
  allowed: [],
  success: 0,
  everyone: 200,
});

export const SITE_CASES: Readonly<Record<string, Case>> = {
  [`POST ${RETENTION}`]: ofSite(200, policy),
  [`PATCH ${RETENTION}`]: ofSite(200, policy),
  [`GET ${RETENTION}`]: ofSite(200),
  [`DELETE ${RETENTION}`]: ofSite(204),
  'GET /openapi/stable.json': described('stable'),
  'GET /openapi/prerelease.json': described('prerelease'),
};
