/** A method by which clients sign in, such as `approle`. */
import type { Route } from '@keelson/edge';
import type { MountScope } from '@keelson/engine';
import type { JsonObject } from '@keelson/secrets-api';
import type { TokenSettings } from './logins/domain/token-settings.ts';

/** Who asks for a renewal, or for the second half of a login. */
export interface RenewingClient {
  /** DER: its own, then intermediate ones; empty if it showed none. */
  readonly certificates: readonly Uint8Array[];
  /** Whether the credentials of the login were verified minutes ago, as its second factor is still missing. */
  readonly isVerified: boolean;
}

/** A request that may be a login, before anything is verified. */
export interface NamedLogin {
  /** Below the mount: "login". */
  readonly path: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** DER: that of the client, then intermediate ones; empty if it showed none. */
  readonly certificates: readonly Uint8Array[];
}

/** A login as its method would answer it now. */
export interface RenewedLogin {
  readonly settings: TokenSettings;
  /** Names of the groups that the client is in now; absent where the method cannot know them without the credentials. */
  readonly groups?: readonly string[];
}

export interface AuthMethod {
  /** Type of its mounts, and the first segment of the paths of `routes`. */
  readonly type: string;
  /** Further types that its mounts may have. */
  readonly otherTypes?: readonly string[];
  /** Paths below a mount that need no token; see `EngineDescription`. */
  readonly unauthenticatedPaths: readonly string[];
  readonly routes: readonly Route[];
  /**
   * The login of a token as of now; undefined if it would be refused.
   * @param data of the login, as sys stored it
   */
  renew(
    mount: MountScope,
    data: JsonObject,
    client: RenewingClient,
  ): Promise<RenewedLogin | undefined>;
  /** Name of the role with which a client signs in, for quotas; absent for a method without roles. */
  findLoginRole?(mount: MountScope, login: NamedLogin): Promise<string | undefined>;
  /** The name by which failed logins of an alias are counted; its own name if absent. */
  toCountedName?(aliasName: string): string;
  /** Removes what has expired in a mount. */
  tidy?(mount: MountScope): Promise<void>;
}

/** All types of mounts that a method serves. */
export const typesOf = ({ type, otherTypes = [] }: AuthMethod): readonly string[] => [
  type,
  ...otherTypes,
];

/** The method that serves mounts of a type. */
export const methodOfType = (
  methods: readonly AuthMethod[],
  type: string,
): AuthMethod | undefined => methods.find((method) => typesOf(method).includes(type));
