/** The audit events that the routes leave: each that changes something leaves one, except those that are named here. */
import type { Store } from '@keelson/storage';
import { auditEvents } from '../src/audit-trail/audit-event-records.ts';

let newest = 0;

/** Events since the last call, in order: action and type. */
export const takeEvents = async (store: Store): Promise<readonly string[]> => {
  const names = await auditEvents.keys(store, []);
  const found = await Promise.all(
    names.map((name) => auditEvents.below(name.replace(/\/$/, '')).entries(store, { limit: 30 })),
  );
  const events = found
    .flat()
    .map(([, event]) => event)
    .filter(({ order }) => order > newest)
    .sort((a, b) => a.order - b.order);
  newest = events.at(-1)?.order ?? newest;
  return events.map(({ resource }) => `${resource.action} ${resource.type}`);
};

const ACCOUNT = 'an account belongs to no organization';
const SITE = 'a setting of the site belongs to no organization';
const UNCHANGED = 'the request of the table changes nothing';

/** Routes that change something, and leave no event. */
const NOT_RECORDED: Readonly<Record<string, string>> = {
  'POST /organizations': 'the trail of an organization begins after it',
  'DELETE /organizations/{organization_name}': 'the trail of an organization ends with it',
  'POST /admin/users': ACCOUNT,
  'PATCH /admin/users/{user_id}': ACCOUNT,
  'DELETE /admin/users/{user_id}': 'only the end of memberships is recorded',
  'POST /admin/users/{user_id}/actions/suspend': ACCOUNT,
  'POST /admin/users/{user_id}/actions/end_sessions': ACCOUNT,
  'POST /admin/users/{user_id}/actions/grant_admin': ACCOUNT,
  'POST /admin/users/{user_id}/actions/revoke_admin': ACCOUNT,
  'POST /users/{user_id}/authentication-tokens': ACCOUNT,
  'POST /command-logins': ACCOUNT,
  'DELETE /account/sessions': ACCOUNT,
  'POST /password-resets': ACCOUNT,
  'PATCH /account/update': ACCOUNT,
  'PATCH /admin/sso-settings': SITE,
  'PATCH /admin/sign-in-settings': SITE,
  'POST /admin/data-retention-policy-settings': SITE,
  'PATCH /admin/data-retention-policy-settings': SITE,
  'DELETE /admin/data-retention-policy-settings': SITE,
  'POST /admin/oidc-settings/actions/rotate-key': SITE,
  'POST /admin/oidc-settings/actions/trim-key': SITE,
  'PATCH /oauth-tokens/{oauth_token_id}': UNCHANGED,
  'DELETE /organizations/{organization_name}/tags': UNCHANGED,
  'POST /projects/{project_id}/relationships/workspaces': UNCHANGED,
  'PATCH /admin/agent-pools/{agent_pool_id}': UNCHANGED,
  'PATCH /admin/oauth-clients/{oauth_client_id}': UNCHANGED,
};

/** Whether a request of a person, a team or an organization to the route leaves an event. */
export const mayBeRecorded = (route: string): boolean =>
  !route.startsWith('GET ') && NOT_RECORDED[route] === undefined;
