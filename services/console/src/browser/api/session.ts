/**
 * The session of this browser, in all of its tabs: what is known of who has signed in, and the namespace of this tab.
 * The tokens are in a cookie that scripts cannot read, which the server opens with the key that is stored here.
 */
import { useSyncExternalStore } from 'react';
import { ApiProblem, request } from './api-problem.ts';

export type TokenKind = 'secrets' | 'workspaces';

export interface Session {
  /** Present while there is a service token of `/v1`; another one for each sign-in. */
  readonly secrets?: string;
  /** Whether a login of this browser made the service token, so that nobody else has it. */
  readonly isOwnLogin?: boolean;
  /** Display name of the service token: who has signed in. */
  readonly person?: string;
  /** The same for a token of `/api/v2`. */
  readonly workspaces?: string;
  /** Name of the account that this token opens. */
  readonly account?: string;
  /** Whether a sign-in of this browser made that token, so that nobody else has it. */
  readonly isOwnSession?: boolean;
  /** Path of the namespace without slashes at its ends; "" is the root. */
  readonly namespace: string;
  /** Reason why the last session ended, shown on the sign-in page. */
  readonly endedBecause?: string;
}

/** The session with the key of its cookie, as all tabs have it. */
type StoredSession = Session & { readonly key?: string };

/** Facts of a session that go with the token for one API. */
const FACTS: Readonly<Record<TokenKind, readonly (keyof Session)[]>> = {
  secrets: ['secrets', 'person', 'isOwnLogin'],
  workspaces: ['workspaces', 'account', 'isOwnSession'],
};

const STORED = 'keelson-session';
const NAMESPACE = 'keelson-namespace';
const listeners = new Set<() => void>();

const storedSession = (): StoredSession => {
  const stored = localStorage.getItem(STORED);
  const session = stored === null ? { namespace: '' } : (JSON.parse(stored) as StoredSession);
  return { ...session, namespace: sessionStorage.getItem(NAMESPACE) ?? session.namespace };
};

let current = storedSession();

export const readSession = (): Session => current;

export const isSignedIn = ({ secrets, workspaces }: Session): boolean =>
  secrets !== undefined || workspaces !== undefined;

/** Whether calls of both sessions are those of the same person, in the same namespace. */
export const isSameSession = (one: Session, other: Session): boolean =>
  one.secrets === other.secrets &&
  one.workspaces === other.workspaces &&
  one.namespace === other.namespace;

const announce = (next: StoredSession): void => {
  current = next;
  for (const listener of listeners) listener();
};

/** Stores what is known of the session for all tabs, and its namespace for this one. */
const store = (next: StoredSession): void => {
  const { endedBecause: _, ...stored } = next;
  if (isSignedIn(next)) localStorage.setItem(STORED, JSON.stringify(stored));
  else localStorage.removeItem(STORED);
  sessionStorage.setItem(NAMESPACE, next.namespace);
  announce(next);
};

/** The session without a token for one API, and what is known of it. */
const without = (session: StoredSession, kind: TokenKind): StoredSession => {
  const isOther = ([name]: readonly [string, unknown]): boolean =>
    !FACTS[kind].some((fact) => fact === name);
  return Object.fromEntries(Object.entries(session).filter(isOther)) as unknown as StoredSession;
};

/** Changes what is known of the session. Its tokens stay as they are. */
export const changeSession = (next: Session): void => {
  const { key } = current;
  store({ ...next, ...(key !== undefined && { key }) });
};

const headersOf = ({ key }: StoredSession): Readonly<Record<string, string>> =>
  key === undefined ? {} : { 'x-keelson-session': key };

/** The headers with which the server finds the tokens of the session; none if there is no session. */
export const sessionHeaders = (): Readonly<Record<string, string>> => headersOf(current);

/** Random text in base64url. @param octets 32 for a key */
const randomText = (octets: number): string =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(octets))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

export type Tokens = Readonly<Partial<Record<TokenKind, string>>>;

/**
 * Signs in with tokens, in addition to one for the other API.
 * @param known what else is known of the session
 * @throws {ApiProblem} when the server cannot be reached, or stores no session
 */
export const beginSession = async (
  { secrets, workspaces }: Tokens,
  known: Partial<Session> = {},
): Promise<void> => {
  const key = current.key ?? randomText(32);
  const answer = await request('/session', {
    method: 'PUT',
    headers: {
      ...headersOf({ ...current, key }),
      ...(secrets !== undefined && { 'x-service-token': secrets }),
      ...(workspaces !== undefined && { authorization: `Bearer ${workspaces}` }),
    },
  });
  if (!answer.ok) throw new ApiProblem(answer.status, 'The server has stored no session.');
  const { endedBecause: _, ...former } = current;
  const others = secrets === undefined ? former : without(former, 'secrets');
  store({
    ...(workspaces === undefined ? others : without(others, 'workspaces')),
    key,
    ...(secrets !== undefined && { secrets: randomText(9) }),
    ...(workspaces !== undefined && { workspaces: randomText(9) }),
    ...known,
  });
};

/** Removes the cookie of a session that this browser has left; without that it ends with the browser. */
const removeCookie = (left: StoredSession): void => {
  if (left.key !== undefined)
    request('/session', { method: 'DELETE', headers: headersOf(left) }).catch(() => undefined);
};

/** Forgets one token; the session continues with the other one, if there is one. */
export const endSession = (kind: TokenKind, reason: string): void => {
  if (current[kind] === undefined) return;
  const others = without(current, kind);
  if (!isSignedIn(others)) {
    removeCookie(current);
    store({ namespace: current.namespace, endedBecause: reason });
    return;
  }
  store({ ...others, endedBecause: reason });
};

/**
 * Ends the session in all tabs.
 * @param reason shown on the sign-in page; undefined when the user asked for it
 * @param last requests of the session, which need its cookie
 */
export const signOut = (reason?: string, last: readonly Promise<unknown>[] = []): void => {
  const left = current;
  store({ namespace: left.namespace, ...(reason !== undefined && { endedBecause: reason }) });
  void Promise.allSettled(last).then(() => removeCookie(left));
};

// Another tab has signed in or out.
addEventListener('storage', ({ key }) => {
  if (key === STORED) announce(storedSession());
});

export const subscribeToSession = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSession = (): Session => useSyncExternalStore(subscribeToSession, readSession);
