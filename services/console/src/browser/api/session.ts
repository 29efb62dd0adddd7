/** The session of this browser tab: its tokens for the two APIs, and the selected namespace. */
import { useSyncExternalStore } from 'react';

export type TokenKind = 'secrets' | 'workspaces';

export interface Session {
  /** A service token of `/v1`. */
  readonly secrets?: string;
  /** Whether a login of this tab made the service token, so that nobody else has it. */
  readonly isOwnLogin?: boolean;
  /** Display name of the service token: who has signed in. */
  readonly person?: string;
  /** A token of `/api/v2`. */
  readonly workspaces?: string;
  /** Whether a sign-in of this tab made that token, so that nobody else has it. */
  readonly isOwnSession?: boolean;
  /** Path of the namespace without slashes at its ends; "" is the root. */
  readonly namespace: string;
  /** Reason why the last session ended, shown on the sign-in page. */
  readonly endedBecause?: string;
}

const KEY = 'keelson-session';
const listeners = new Set<() => void>();

const keptSession = (): Session => {
  const kept = sessionStorage.getItem(KEY);
  return kept === null ? { namespace: '' } : (JSON.parse(kept) as Session);
};

let current = keptSession();

export const readSession = (): Session => current;

export const isSignedIn = ({ secrets, workspaces }: Session): boolean =>
  secrets !== undefined || workspaces !== undefined;

/** Keeps the session for this browser tab; it ends with the tab. */
export const changeSession = (next: Session): void => {
  current = next;
  if (isSignedIn(next)) sessionStorage.setItem(KEY, JSON.stringify(next));
  else sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener();
};

/** Forgets one token; the session continues with the other one, if there is one. */
export const endSession = (kind: TokenKind, reason: string): void => {
  const { [kind]: gone, ...others } = current;
  if (gone === undefined) return;
  const { person, isOwnLogin, isOwnSession, ...rest } = others;
  changeSession({
    ...rest,
    ...(kind === 'workspaces' && person !== undefined && { person }),
    ...(kind === 'workspaces' && isOwnLogin !== undefined && { isOwnLogin }),
    ...(kind === 'secrets' && isOwnSession !== undefined && { isOwnSession }),
    endedBecause: reason,
  });
};

/**
 * Forgets both tokens.
 * @param reason shown on the sign-in page; undefined when the user asked for it
 */
export const signOut = (reason?: string): void =>
  changeSession({
    namespace: current.namespace,
    ...(reason !== undefined && { endedBecause: reason }),
  });

export const subscribeToSession = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSession = (): Session => useSyncExternalStore(subscribeToSession, readSession);
