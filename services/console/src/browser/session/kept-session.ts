import type { Session } from '../api-client.ts';

const KEY = 'keelson-session';

/** The session of this browser tab; it ends with the tab. */
export const keptSession = (): Session => {
  const kept = sessionStorage.getItem(KEY);
  return kept === null ? { token: undefined, namespace: '' } : (JSON.parse(kept) as Session);
};

export const keepSession = (session: Session): void => {
  if (session.token === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, JSON.stringify(session));
};
