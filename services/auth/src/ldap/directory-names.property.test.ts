/** Whatever the name of a login, a filter asks for that name alone, and a DN has one more part. */
import fc from 'fast-check';
import { EqualityFilter, OrFilter } from 'ldapts';
import { expect, test } from 'vitest';
import { directBindName, groupFilterOf, userFilterOf } from './directory-names.ts';
import { NEW_LDAP_CONFIG } from './domain/ldap-config.ts';
import { isDirectoryName } from './domain/mapping.ts';

const CONFIG = { ...NEW_LDAP_CONFIG, userAttribute: 'uid', userDn: 'ou=people,dc=example' };
const SPECIAL = fc.constantFrom(...Array.from(String.raw`*()\,+"<>;=#&|!:~ `), 'a', '2', 'é', '𐍈');
const name = fc
  .oneof(fc.string({ unit: SPECIAL, maxLength: 12 }), fc.string({ unit: 'grapheme' }))
  .filter(isDirectoryName);

const valueOf = ({ value }: EqualityFilter): string => Buffer.from(value as never).toString();

test('a filter compares the attribute with the name', () =>
  fc.assert(
    fc.asyncProperty(name, async (username) => {
      const filter = await userFilterOf(CONFIG, username);
      expect(filter).toBeInstanceOf(EqualityFilter);
      const { attribute } = filter as EqualityFilter;
      expect([attribute, valueOf(filter as EqualityFilter)]).toEqual(['uid', username]);
      const groups = (await groupFilterOf(CONFIG, username, `uid=${username}`)) as OrFilter;
      expect(groups).toBeInstanceOf(OrFilter);
      expect(groups.filters.map((one) => valueOf(one as EqualityFilter))).toEqual([
        username,
        `uid=${username}`,
        `uid=${username}`,
      ]);
    }),
  ));

test('a DN of a name has one part more than that of the people, with that value', () =>
  fc.assert(
    fc.asyncProperty(name, async (username) => {
      const dn = await directBindName(CONFIG, username);
      const [, own = ''] = /^uid=((?:\\.|[^\\,+"<>;=#])*),ou=people,dc=example$/su.exec(dn) ?? [];
      expect(own.replaceAll(/\\(.)/gsu, '$1')).toBe(username);
    }),
  ));
