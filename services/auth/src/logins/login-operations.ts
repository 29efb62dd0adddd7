/** Logins: a method has verified the credentials, and sys makes the token. */
import { requireMount } from '@keelson/engine';
import type { LoginLimits, LoginsDefinition } from '@keelson/proto/sys/v1/logins';
import type { RpcService } from '@keelson/rpc';
import type { JsonObject, OperationContext } from '@keelson/secrets-api';
import type { TokenSettings } from './domain/token-settings.ts';

export type Logins = RpcService<typeof LoginsDefinition>;

/** The client at the mount of its method, by which sys finds the entity. */
export interface LoginAlias {
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Names of the groups that the client is in; those that are aliases of groups at the mount count. */
  readonly groups: readonly string[];
}

export interface VerifiedLogin {
  /** "" if the method knows no name of the client. */
  readonly displayName: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly alias: LoginAlias;
  readonly settings: TokenSettings;
  /** Absent for a method without roles. */
  readonly role?: string;
  /** Name in the path of the login, by which all tokens of a person can be revoked; absent where the path has none. */
  readonly username?: string;
  /** The method receives it when the token is renewed. */
  readonly data: JsonObject;
}

/** The gateway names the header so, by whichever name it came. */
const PASSCODES = 'x-service-mfa';

export const toLimits = (settings: TokenSettings): LoginLimits => ({
  ...settings,
  policies: [...settings.policies],
  boundCidrs: [...settings.boundCidrs],
});

/** Passcodes that come with the login itself, so that no second request is needed: `<method>:<passcode>`. */
const passcodesOf = ({ headers }: OperationContext<unknown>['head']): string[] =>
  (headers[PASSCODES] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');

/** The answer to a login: the token that sys made, or the second factor that the login waits for. */
export const answerLogin = async (
  logins: Logins,
  context: OperationContext<unknown>,
  { displayName, metadata, alias, settings, role = '', username, data }: VerifiedLogin,
): Promise<{ readonly auth: JsonObject }> => {
  const { authJson, warnings } = await logins.login({
    mountUuid: requireMount(context).uuid,
    requestPath: username === undefined ? 'login' : `login/${username}`,
    displayName,
    metadata: { ...metadata },
    limits: toLimits(settings),
    loginData: Buffer.from(JSON.stringify(data)),
    remoteAddress: context.head.remoteAddress,
    aliasName: alias.name,
    aliasMetadata: { ...alias.metadata },
    groupAliases: [...alias.groups],
    passcodes: passcodesOf(context.head),
    role,
  });
  context.warnings.push(...warnings);
  return { auth: JSON.parse(authJson) as JsonObject };
};
