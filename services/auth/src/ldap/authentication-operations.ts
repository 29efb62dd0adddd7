/** Finds out from a directory who signs in, and which groups the person is in. */
import { randomUUID } from 'node:crypto';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import type { RequestsUnderWay } from '../providers/under-way.ts';
import {
  type Conversation,
  converse,
  DirectoryFailure,
  type FoundEntry,
} from './directory-connection.ts';
import { directBindName, groupFilterOf, userFilterOf } from './directory-names.ts';
import { commonNameOf } from './domain/common-name.ts';
import { type LdapConfig, searchesPeople } from './domain/ldap-config.ts';

export interface DirectoryContext {
  readonly outboundPolicy: AddressPolicy;
  readonly underWay: RequestsUnderWay;
  readonly logger: Logger;
}

export interface Person {
  /** The value of the attribute that names people, unless the mount takes the name of the login. */
  readonly aliasName: string;
  readonly groups: readonly string[];
}

const MAX_GROUPS = 1000;

const findEntry = async (
  directory: Conversation,
  config: LdapConfig,
  username: string,
): Promise<FoundEntry | undefined> => {
  const filter = await userFilterOf(config, username);
  const search = { base: config.userDn, filter, attribute: config.userAttribute, limit: 100 };
  const [found, ...others] = await directory.search(search);
  // Several people of one name are nobody.
  return others.length > 0 ? undefined : found;
};

const bindAsReader = async (directory: Conversation, config: LdapConfig): Promise<void> => {
  if (!(await directory.bind(config.bindDn, config.bindPassword)))
    throw new DirectoryFailure('the directory does not accept binddn and bindpass');
};

/** The entry of a person whose password is right; as much is asked about one that nobody is. */
const verifyFound = async (
  directory: Conversation,
  config: LdapConfig,
  username: string,
  password: string,
) => {
  await bindAsReader(directory, config);
  const found = await findEntry(directory, config, username);
  const nobody = () => directBindName({ ...config, upnDomain: '' }, randomUUID());
  const isRight = await directory.bind(found?.dn ?? (await nobody()), password);
  return isRight ? found : undefined;
};

const verifyDirectly = async (
  directory: Conversation,
  config: LdapConfig,
  username: string,
  password: string,
) => {
  const name = await directBindName(config, username);
  if (!(await directory.bind(name, password))) return undefined;
  const [own] =
    config.upnDomain === ''
      ? await directory.search({ base: name, attribute: config.userAttribute, limit: 1 })
      : [await findEntry(directory, config, username)];
  if (own === undefined) throw new DirectoryFailure('the entry of the user cannot be read');
  return own;
};

const groupsOf = async (
  directory: Conversation,
  config: LdapConfig,
  username: string,
  userDn: string,
): Promise<readonly string[]> => {
  if (config.groupDn === '') return [];
  if (config.searchesGroupsAnonymously) await directory.bind('', '');
  else if (config.bindDn !== '') await bindAsReader(directory, config);
  const attribute = config.groupAttribute;
  const found = await directory.search({
    base: config.groupDn,
    filter: await groupFilterOf(config, username, userDn),
    attribute,
    limit: MAX_GROUPS,
  });
  const names = found.flatMap((entry) => {
    const values = entry.valuesOf(attribute);
    return (values.length === 0 ? [entry.dn] : values).map(commonNameOf);
  });
  const distinct = [...new Set(names)].toSorted();
  if (distinct.length > MAX_GROUPS)
    throw new DirectoryFailure(`the user is in more than ${MAX_GROUPS} groups`);
  return distinct;
};

const toPerson = async (
  directory: Conversation,
  config: LdapConfig,
  username: string,
  entry: FoundEntry,
): Promise<Person> => {
  const [named = ''] = config.usernameAsAlias ? [username] : entry.valuesOf(config.userAttribute);
  if (named === '') throw new DirectoryFailure('the entry of the user has no value of userattr');
  return { aliasName: named, groups: await groupsOf(directory, config, username, entry.dn) };
};

const asking = async <T>(
  { outboundPolicy, underWay, logger }: DirectoryContext,
  mount: MountScope,
  config: LdapConfig,
  talk: (directory: Conversation) => Promise<T>,
): Promise<T> => {
  try {
    return await underWay.send(mount, () => converse(outboundPolicy, config, talk));
  } catch (error) {
    if (!(error instanceof DirectoryFailure)) throw error;
    logger.warn({ reason: error.message, mount: mount.uuid }, 'a directory was not asked');
    throw new KeelsonError('request.invalid', {
      text: 'the directory cannot be asked at the moment',
    });
  }
};

/**
 * The person whose password is right; undefined if the credentials are wrong.
 * @param password not empty: directories take a bind without one as an anonymous one, which proves nothing
 * @throws KeelsonError `request.invalid` when the directory has not answered; `request.rate_limited` when too many
 *   answers are outstanding
 */
export const verifyPerson = (
  context: DirectoryContext,
  mount: MountScope,
  config: LdapConfig,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<Person | undefined> =>
  asking(context, mount, config, async (directory) => {
    const verify = searchesPeople(config) ? verifyFound : verifyDirectly;
    const entry = await verify(directory, config, username, password);
    return entry && toPerson(directory, config, username, entry);
  });

/**
 * A person as the directory knows it now, without a password.
 * @returns undefined if there is none
 * @throws as `verifyPerson`
 */
export const findPerson = (
  context: DirectoryContext,
  mount: MountScope,
  config: LdapConfig,
  username: string,
): Promise<Person | undefined> =>
  asking(context, mount, config, async (directory) => {
    await bindAsReader(directory, config);
    const entry = await findEntry(directory, config, username);
    return entry && toPerson(directory, config, username, entry);
  });
