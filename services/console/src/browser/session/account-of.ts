/** The account of a token of the workspace API. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { Session } from '../api/session.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';

/** Its name, which the session stores; nothing where it cannot be read, as no page needs it. */
export const accountOf = (token: string): Promise<Pick<Session, 'account'>> =>
  callWorkspaces<OneDocument<ResourceAttributes['users']>>('GET', 'account/details', {
    token,
  }).then(
    ({ data }) => ({ account: data.attributes.username }),
    () => ({}),
  );
