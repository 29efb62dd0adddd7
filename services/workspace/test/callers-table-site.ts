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
  'GET /admin/agent-pools': { target: '/admin/agent-pools', allowed: ['site'], success: 200 },
  'PATCH /admin/agent-pools/{agent_pool_id}': {
    target: '/admin/agent-pools/{pool}',
    body: attributes('agent-pools'),
    allowed: ['site'],
    success: 200,
  },
  'GET /admin/oauth-clients': { target: '/admin/oauth-clients', allowed: ['site'], success: 200 },
  'PATCH /admin/oauth-clients/{oauth_client_id}': {
    target: '/admin/oauth-clients/{newClient}',
    body: attributes('oauth-clients'),
    allowed: ['site'],
    success: 200,
  },
  ...Object.fromEntries(
    ['rotate-key', 'trim-key'].map((action) => {
      const target = `/admin/oidc-settings/actions/${action}`;
      return [`POST ${target}`, { target, allowed: ['site'], success: 204 } as const];
    }),
  ),
  'GET /openapi/stable.json': described('stable'),
  'GET /openapi/prerelease.json': described('prerelease'),
};
